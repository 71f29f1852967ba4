import type { Decoration } from '../group/decorate.ts';
import type { ScannedFolder } from '../store/context.ts';
import type { Memory } from './memory.ts';

/** One folder while it is scanned. */
export interface Place {
  folder: ScannedFolder;
  memory: Memory;
  decoration: Decoration;
  /** Directories whose items depend on changed ones. */
  again: Set<string>;
  /** Write everything that is listed again. */
  regroup: boolean;
  /** Directories with many unreadable files, see `gathered`. */
  lost: string[];
}
