// Writes the ConfigMap of spec.branding to files, as a cluster mounts it.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const KEY = /^(showName|accent|background|signInMessage|footer|links|logo-(main|loading)-(dark|light))$/;

export const brandingFolder = (dir: string): string => resolve(dir, 'run', 'branding');

/** Each file is written atomically, and files without a key are deleted. Names that begin with a dot are not read. */
export function writeBranding(folder: string, values: Readonly<Record<string, string | Uint8Array>>): void {
  mkdirSync(folder, { recursive: true });
  const wanted = Object.entries(values).filter(([key]) => KEY.test(key));
  for (const name of readdirSync(folder)) {
    if (!wanted.some(([key]) => key === name)) rmSync(join(folder, name), { force: true });
  }
  for (const [key, value] of wanted) {
    writeFileSync(join(folder, `.${key}`), value, { mode: 0o600 });
    renameSync(join(folder, `.${key}`), join(folder, key));
  }
}
