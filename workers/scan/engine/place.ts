import type { Decoration } from '../group/decorate.ts';
import type { ScannedFolder } from '../store/context.ts';
import type { Memory } from './memory.ts';

/** One folder while it is listed. */
export interface Place {
  folder: ScannedFolder;
  memory: Memory;
  decoration: Decoration;
  /** Directories whose items depend on others that changed. */
  again: Set<string>;
  /** All that is listed is written again. */
  regroup: boolean;
  /** Directories where much could not be read, see `gathered`. */
  lost: string[];
}
