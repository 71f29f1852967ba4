import type { ReadAs } from '#workers/probe/probe.ts';
import type { Draft, Grouping, ItemKey } from '../group/draft.ts';
import { rulesOf } from '../group/index.ts';
import { isRemote } from '../remote-roots.ts';
import { nameOf } from '../store/item-rows.ts';
import type { Compared } from './compare.ts';
import { type Inside, readEarly } from './early.ts';
import { fingerprintOf } from './fingerprints.ts';
import { groupingOf, groupSlowly } from './grouping.ts';
import type { Place } from './place.ts';
import type { Scan } from './scan.ts';

/** Items of one directory that are written together. */
export interface Piece {
  compared: Compared;
  drafts: Draft[];
  /** Set with the last piece of the directory. */
  unrecognised: string[];
  /** Whether it contains the last of the directory's files. */
  whole: boolean;
}

/** A full part is 500 files, or 64 that are read unless each is read in a moment. Slightly more, because fractions are summed. */
const FULL = 1.000001;
const FILES = 500;
const READS = 64;
const QUICK: readonly (ReadAs | undefined)[] = ['music', 'file'];

function readsOf({ library }: Scan, { folder }: Place): number {
  return QUICK.includes(rulesOf(library.type)?.readAs) && !isRemote(folder.root) ? FILES : READS;
}

/**
 * Groups directories into parts to write: several small directories together, a large one split between its items.
 * Holds only the items of the current part.
 */
export async function* partsOf(scan: Scan, place: Place, all: readonly Compared[]): AsyncGenerator<Piece[]> {
  let part: Piece[] = [];
  let weight = 0;
  for await (const ahead of readAhead(scan, place, all)) {
    for await (const { piece, weight: more } of piecesOf(scan, place, ahead)) {
      if (weight > 0 && weight + more > FULL) {
        yield part;
        [part, weight] = [[], 0];
      }
      part.push(piece);
      weight += more;
    }
  }
  if (part.length > 0) yield part;
}

interface Ahead {
  compared: Compared;
  inside: Inside | undefined;
}

/** Directories with what their media contain; of small ones, as many as make a part are read together. */
async function* readAhead(scan: Scan, place: Place, all: readonly Compared[]): AsyncGenerator<Ahead> {
  let [together, reads]: [Compared[], number] = [[], 0];
  for (const compared of all) {
    const more = compared.regroup ? compared.toRead.size : 0;
    if (together.length > 0 && reads + more > readsOf(scan, place)) {
      yield* withInside(scan, place, together);
      [together, reads] = [[], 0];
    }
    together.push(compared);
    reads += more;
  }
  yield* withInside(scan, place, together);
}

async function* withInside(scan: Scan, place: Place, together: readonly Compared[]): AsyncGenerator<Ahead> {
  const insides = await readEarly(
    scan,
    place,
    together.filter(({ regroup }) => regroup),
  );
  for (const compared of together) yield { compared, inside: insides.get(compared) };
}

interface Weighed {
  piece: Piece;
  weight: number;
}

async function* piecesOf(scan: Scan, place: Place, { compared, inside }: Ahead): AsyncGenerator<Weighed> {
  if (!compared.regroup) {
    yield { piece: { compared, drafts: [], unrecognised: [], whole: true }, weight: 0 };
    return;
  }
  const directory = new Directory(scan, place, { compared, inside });
  let [drafts, weight]: [Draft[], number] = [[], 0];
  for await (const draft of directory.changed()) {
    const more = weightOf(draft, compared, readsOf(scan, place));
    if (weight > 0 && weight + more > FULL) {
      yield { piece: { compared, drafts: directory.withContainers(drafts), unrecognised: [], whole: false }, weight };
      [drafts, weight] = [[], 0];
    }
    drafts.push(draft);
    weight += more;
  }
  const last = [...directory.withContainers(drafts), ...directory.changedContainers()];
  yield { piece: { compared, drafts: last, unrecognised: directory.unrecognised, whole: true }, weight };
}

function weightOf({ files }: Draft, { toRead }: Compared, mostReads: number): number {
  const reads = files.filter(({ walked }) => toRead.has(walked.name)).length;
  return Math.max(files.length / FILES, reads / mostReads);
}

/** The items of one directory; only those that differ from the last write are returned. */
class Directory {
  unrecognised: string[] = [];
  readonly #place: Place;
  readonly #compared: Compared;
  readonly #grouping: Grouping;
  /** Shows and seasons, because their content needs their ids. */
  readonly #containers = new Map<string, Draft>();
  readonly #changed = new Set<string>();

  constructor(scan: Scan, place: Place, { compared, inside }: { compared: Compared; inside: Inside | undefined }) {
    const { files } = compared;
    this.#place = place;
    this.#compared = compared;
    this.#grouping = groupingOf(scan, place.folder, { path: compared.directory.path, files, inside });
  }

  async *changed(): AsyncGenerator<Draft> {
    const all = groupSlowly(this.#grouping);
    let next = await all.next();
    for (; !next.done; next = await all.next()) {
      const draft = next.value;
      if (draft.files.length === 0) await this.#noteContainer(draft);
      else if (this.#isChanged(draft)) {
        await this.#place.decoration.decorate(draft, this.#grouping);
        yield draft;
      }
    }
    this.unrecognised = next.value;
  }

  /** Its appearance depends on the folders above, so it is read first. */
  async #noteContainer(draft: Draft): Promise<void> {
    await this.#place.decoration.decorate(draft, this.#grouping);
    this.#containers.set(nameOf(draft), draft);
    if (draft.onlyKnown) this.#compared.show.now = draft.key;
    if (this.#isChanged(draft)) this.#changed.add(nameOf(draft));
  }

  #isChanged(draft: Draft): boolean {
    const { written, made, known, toRead } = this.#compared;
    const fingerprint = fingerprintOf(draft, this.#grouping);
    made.push(fingerprint);
    return (
      !written.has(fingerprint) ||
      draft.files.some(({ walked: { name } }) => {
        const row = known.get(name);
        return toRead.has(name) || !row?.there || row.moved;
      })
    );
  }

  /** The drafts, after all their containers. */
  withContainers(drafts: readonly Draft[]): Draft[] {
    const needed = this.#above(drafts);
    return [...needed.values(), ...drafts];
  }

  /**
   * Containers that changed; they make no item. Also those that content was returned with: a faulty file would take its container
   * along.
   */
  changedContainers(): Draft[] {
    const own = [...this.#changed].flatMap((name) => this.#containers.get(name) ?? []);
    const all = new Map([...this.#above(own), ...own.map((draft) => [nameOf(draft), draft] as const)]);
    return [...all.values()].map((draft) => ({ ...draft, onlyKnown: true }));
  }

  #above(drafts: readonly Draft[]): Map<string, Draft> {
    const above = new Map<string, Draft>();
    const note = (key: ItemKey | undefined): void => {
      const draft = key && this.#containers.get(nameOf(key));
      if (!draft || above.has(nameOf(draft))) return;
      note(draft.parent);
      above.set(nameOf(draft), draft);
    };
    for (const { parent, grandparent, extra } of drafts) {
      note(grandparent);
      note(parent);
      note(extra && 'key' in extra.of ? extra.of : undefined);
    }
    return above;
  }
}
