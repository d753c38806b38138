import { it } from 'vitest';
import { runMutated } from './check.ts';
import { wireChecks } from './checks/index.ts';
import { mutations } from '../mutation/mutations.ts';
it('x', async () => {
  for (const m of mutations) {
    const out: string[] = [];
    for (const c of wireChecks.filter((x) => x.ids.includes(m.id))) {
      const r = await runMutated(c, m, 1500);
      const f = r.failure as Error | undefined;
      out.push(`${f ? `${f.name}: ${f.message.replace(/\s+/g,' ').slice(0, 130)}` : 'pass'} [${r.changes}]`);
    }
    console.log(`## ${m.id} ${m.name}\n   ${out.join('\n   ')}`);
  }
}, 200000);
