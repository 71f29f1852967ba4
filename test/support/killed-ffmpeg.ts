// An ffmpeg that is killed at its start, as on a machine without free memory.
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './stores.ts';

/** Found before the real ffmpeg in `path`; the next process after a strike is killed. */
export class KilledFfmpeg {
  readonly #folder = temporaryFolder('killed-ffmpeg');
  readonly #mark = join(this.#folder, 'mark');
  readonly path = `${this.#folder}:${process.env['PATH']}`;

  constructor() {
    const script = join(this.#folder, 'ffmpeg');
    const killed = `if rm "${this.#mark}" 2>/dev/null; then kill -KILL $$; fi`;
    writeFileSync(script, `#!/bin/sh\n${killed}\nPATH=\${PATH#*:}\nexec ffmpeg "$@"\n`);
    chmodSync(script, 0o755);
  }

  strike(): void {
    writeFileSync(this.#mark, '');
  }

  /** True once a process was killed. */
  get hasStruck(): boolean {
    return !existsSync(this.#mark);
  }
}
