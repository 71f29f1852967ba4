// A worktree of HEAD for breaks: with the modules and the build of this one, so that nothing is installed.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface Worktree {
  folder: string;
  remove(): void;
}

/** Adds the worktree below `.cache`, on the file system of the modules, which are hard links. */
export function addWorktree(root: string): Worktree {
  const folder = join(root, '.cache', `breaks-${process.pid}`);
  const git = (...words: string[]): void => void execFileSync('git', ['worktree', ...words], { cwd: root });
  git('add', '--quiet', '--detach', folder, 'HEAD');
  const remove = (): void => git('remove', '--force', folder);
  try {
    for (const path of ['node_modules', 'web/node_modules'])
      execFileSync('cp', ['-al', join(root, path), join(folder, path)]);
    const build = join(root, 'web/build');
    if (existsSync(build)) execFileSync('cp', ['-a', build, join(folder, 'web/build')]);
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, remove };
}
