import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import type { AutoTag, AutoTagged, TagKind } from './auto-tag.schemas.ts';
import { addValues, type Known, knownNames, type NamedItem, namedItems } from './auto-tag.store.ts';
import { type Placeholder, parseTemplate, readTemplate, type Template } from './template.ts';
import { folded, Names } from './words.ts';

export interface AutoTagRun extends AutoTag {
  libraryId: string;
  who: Principal;
}

export type Counts = Pick<AutoTagged, 'examined' | 'matched' | 'applied' | 'matches'>;

const MOST_MATCHES = 200;
/** Names, or items, between which other requests have their turn. */
const AT_A_TIME = 500;
const OF: Partial<Record<Placeholder, TagKind>> = { person: 'people', studio: 'studios', tag: 'tags' };

/** Looks for known names, and for what templates name, in items batch by batch. */
export class AutoTagger {
  readonly #run: AutoTagRun;
  readonly #names: Names<Known>;
  readonly #templates: readonly Template[];
  readonly #kinds: ReadonlySet<TagKind>;

  static async of(db: Db, run: AutoTagRun): Promise<AutoTagger> {
    const tagger = new AutoTagger(run);
    for (const [at, one] of (await knownNames(db, run.who, run.kinds)).entries()) {
      if (at % AT_A_TIME === 0) await nextTurn();
      if (folded(one.name).length >= run.minLength) tagger.#names.add(one.name, one);
    }
    return tagger;
  }

  private constructor(run: AutoTagRun) {
    this.#run = run;
    this.#kinds = new Set(run.kinds);
    this.#names = new Names();
    this.#templates = (run.templates ?? []).flatMap((text) => parseTemplate(text) ?? []);
  }

  /** The next items behind `after`; their last id is undefined at the end. */
  async next(db: Db, after: string | undefined, limit: number): Promise<Counts & { last: string | undefined }> {
    const { libraryId, dryRun } = this.#run;
    const { items, last } = await namedItems(db, this.#run, { after, limit });
    const found: AutoTagged['matches'][] = [];
    for (const [at, item] of items.entries()) {
      if (at % AT_A_TIME === 0) await nextTurn();
      found.push(this.#matchesOf(item));
    }
    const matches = found.flat();
    return {
      examined: items.length,
      matched: found.filter((all) => all.length > 0).length,
      applied: dryRun ? 0 : await addValues(db, libraryId, matches),
      matches: matches.slice(0, MOST_MATCHES),
      last,
    };
  }

  #matchesOf({ id: itemId, title, locked, paths }: NamedItem): AutoTagged['matches'] {
    const matches = new Map<string, AutoTagged['matches'][number]>();
    const note = (kind: TagKind, value: string, matchedText: string): void => {
      if (!this.#kinds.has(kind) || locked.includes(kind)) return;
      const key = `${kind}\n${folded(value)}`;
      if (!matches.has(key)) matches.set(key, { itemId, title, kind, value, matchedText });
    };
    for (const path of paths) {
      for (const { values, matched } of this.#names.in(bare(path)))
        for (const { kind, name } of values) note(kind, name, matched);
      for (const { kind, value } of this.#templated(path)) note(kind, value, value);
    }
    return [...matches.values()];
  }

  *#templated(path: string): Generator<{ kind: TagKind; value: string }> {
    const name = bare(path.slice(path.lastIndexOf('/') + 1));
    for (const { placeholder, value } of this.#templates.flatMap((template) => readTemplate(template, name) ?? [])) {
      const kind = OF[placeholder];
      if (kind) yield { kind, value };
    }
  }
}

/** Without the extension of the file. */
function bare(path: string): string {
  const dot = path.lastIndexOf('.');
  return dot > path.lastIndexOf('/') + 1 ? path.slice(0, dot) : path;
}
