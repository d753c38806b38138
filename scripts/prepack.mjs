// npm takes README and LICENSE from the folder of the package; they live at the root of the repository.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, library, root } from './prepare.mjs';

build();
for (const file of ['README.md', 'LICENSE']) copyFileSync(join(root, file), join(library, file));
