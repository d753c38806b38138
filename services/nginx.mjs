import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPTS = 5;
const LOOK_EVERY_MS = 20;

/** The program, if it is installed. Where users have no administrative programs in their path, it is beside it. */
export function findNginx() {
  return ['nginx', '/usr/sbin/nginx'].find((program) => spawnSync(program, ['-v']).error === undefined);
}

/**
 * Starts an nginx of its own, on a free port of this machine, that shares requests out to servers in turn. Everything that
 * it writes is in `dir`.
 *
 * @param {string} dir a folder to make
 * @param {readonly string[]} servers their addresses and ports
 * @param {{ upstream?: string, location?: string }} [directives] beside those without which it would not work
 * @returns where it is reached; `stop` ends it
 */
export async function startNginx(dir, servers, directives) {
  await mkdir(dir);
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const config = join(dir, 'nginx.conf');
    await writeFile(config, configuration(dir, port, servers, directives));
    const child = spawn(findNginx(), ['-p', dir, '-e', join(dir, 'error.log'), '-c', config, '-g', 'daemon off;'], {
      stdio: 'inherit',
    });
    const ended = once(child, 'exit');
    const stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    // It says its number when it has the port.
    while (child.exitCode === null && !existsSync(join(dir, 'nginx.pid'))) await sleep(LOOK_EVERY_MS);
    if (child.exitCode === null) return { url: `http://127.0.0.1:${port}/mcp`, stop };
    // Between its choice and its use, somebody else may have taken the port.
    if (attempt === ATTEMPTS) throw new Error(`nginx did not start: ${await readFile(join(dir, 'error.log'), 'utf8')}`);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function configuration(dir, port, servers, { upstream = '', location = '' } = {}) {
  // Without the right to become another user, the directive would only be a warning.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir}/${name};`,
  );
  return `
${user}
worker_processes 1;
pid ${dir}/nginx.pid;
events {}
http {
  access_log off;
  ${temporary.join('\n  ')}
  upstream instances {
    ${servers.map((server) => `server ${server};`).join('\n    ')}
    ${upstream}
  }
  server {
    listen 127.0.0.1:${port};
    location /mcp {
      proxy_pass http://instances;
      proxy_set_header Host $http_host;
      add_header X-Instance $upstream_addr always;
      ${location}
    }
  }
}
`;
}
