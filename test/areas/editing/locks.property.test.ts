import { expect } from 'chai';
import {
  editFields,
  findKnownItems,
  putLayers,
  raiseChangesOfItems,
  setLocks,
  settleItems,
} from '#areas/libraries/public.ts';
import type { FieldName } from '#platform/item-values.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';

const PLACE = { language: 'en', country: null };
const FIELDS: readonly FieldName[] = ['overview', 'tagline', 'year', 'genres', 'ageRating', 'originalLanguage'];
const LOCAL = ['nfo', 'embedded'] as const;
const AGENTS = ['wikidata', 'tmdb'] as const;
type Source = (typeof LOCAL)[number] | (typeof AGENTS)[number] | 'file-name';

/** The rules of Editing for one field, in the plainest words. */
class Model {
  value: unknown;
  origin: string | undefined;
  edit: unknown;
  locked = false;
  readonly given = new Map<Source, unknown>();
  readonly order: readonly Source[];

  constructor(preferLocal: boolean) {
    const agents = ['tmdb', 'wikidata'] as const;
    this.order = preferLocal ? [...LOCAL, ...agents, 'file-name'] : [...agents, ...LOCAL, 'file-name'];
  }

  #top(): [unknown, string] | undefined {
    const source = this.order.find((one) => this.given.get(one) !== undefined);
    return source && [this.given.get(source), source];
  }

  #follow(found: [unknown, string] | undefined): void {
    if (found) [this.value, this.origin] = found;
    else if (this.origin !== undefined) [this.value, this.origin] = [undefined, undefined];
  }

  set(value: unknown, lock: boolean): void {
    this.edit = value;
    this.locked = lock && value !== undefined;
    this.#follow(value === undefined ? this.#top() : [value, 'person']);
  }

  settle(mode: 'settle' | 'update' | 'replace' | 'missing'): void {
    if (this.locked) return;
    const top = this.#top();
    if (mode === 'update' && top) this.edit = undefined;
    if (mode === 'replace') this.edit = undefined;
    const found: [unknown, string] | undefined = this.edit === undefined ? top : [this.edit, 'person'];
    if (mode === 'missing') {
      const empty = this.value === undefined;
      if (empty) this.#follow(found);
    } else this.#follow(found);
  }
}

describe('locks and origins of fields', function () {
  this.timeout(120_000);
  let api: Api;
  let owner: Person;

  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });

  const SEEDS = Number(process.env['FOYER_SEEDS'] ?? 6);
  for (let seed = 1; seed <= SEEDS; seed += 1)
    it(`are those of the rules after any sequence of changes (seed ${seed})`, async () => {
      const chance = randomOf(seed);
      const preferLocal = seed % 2 === 0;
      const { db } = api.deps;
      const settings = JSON.stringify({ preferLocal, agents: ['tmdb', 'wikidata'] });
      const library = await givenLibrary(db, 'movies', { settings });
      const id = await givenItem(db, library, { title: 'Film' });
      const models = new Map(FIELDS.map((name) => [name, new Model(preferLocal)]));
      for (let step = 1; step <= 60; step += 1) {
        const what = await change(id, { chance, models });
        await expectModel(id, models, `seed ${seed}, step ${step}: ${what}`);
      }
    });

  interface Changing {
    chance: (n: number) => number;
    models: ReadonlyMap<FieldName, Model>;
  }

  interface Bulk {
    name: FieldName;
    model: Model;
    chance: (n: number) => number;
  }

  async function change(id: string, { chance, models }: Changing): Promise<string> {
    const name = FIELDS[chance(FIELDS.length)] as FieldName;
    const model = models.get(name) as Model;
    if (chance(5) === 0) return changeInBulk(id, { name, model, chance });
    return api.deps.db.transaction(async (db) => {
      await raiseChangesOfItems(db, [id]);
      const kind = chance(6);
      if (kind <= 1) {
        const value = chance(4) === 0 ? undefined : fieldValue(name, chance);
        const lock = chance(2) === 0;
        const edit = { itemId: id, fields: new Map([[name, value ?? null]]) };
        await editFields(db, [edit], { accountId: owner.accountId, lock, place: PLACE });
        model.set(value, lock);
        return `edit ${name}=${JSON.stringify(value)} lock=${lock}`;
      }
      if (kind === 2) {
        const locks = FIELDS.filter(() => chance(3) === 0);
        await setLocks(db, id, locks);
        for (const [field, one] of models) one.locked = locks.includes(field);
        return `locks ${locks.join()}`;
      }
      const local = kind === 3;
      const source = (local ? [...LOCAL, 'file-name'] : AGENTS)[chance(local ? 3 : 2)] as Source;
      const mode = local ? 'settle' : ((['update', 'replace', 'missing'] as const)[chance(3)] ?? 'update');
      const values = Object.fromEntries(
        FIELDS.filter(() => chance(2) === 0).map((field) => [field, fieldValue(field, chance)]),
      );
      const layer = source === 'nfo' || source === 'embedded' || source === 'file-name' ? source : { agent: source };
      const title = source === 'file-name' ? { title: 'Film' } : {};
      await putLayers(db, [{ itemId: id, layers: [{ source: layer, values: { ...values, ...title } }] }]);
      await settleItems(db, [id], { place: PLACE, mode });
      for (const [field, one] of models) {
        one.given.set(source, values[field]);
        one.settle(mode);
      }
      return `${mode} of ${source} ${JSON.stringify(values)}`;
    });
  }

  /** By the request for many items: an edit locks its field. */
  async function changeInBulk(id: string, { name, model, chance }: Bulk): Promise<string> {
    const action = (['edit', 'edit', 'lock', 'unlock'] as const)[chance(4)] ?? 'edit';
    const value = chance(4) === 0 ? undefined : fieldValue(name, chance);
    const body =
      action === 'edit'
        ? { action, itemIds: [id], set: { [name]: value ?? null } }
        : { action, itemIds: [id], fields: [name] };
    const answer = await api.as(await api.given.again(owner)).changeItemsInBulk({ body });
    expect([answer.status, answer.body.refused], JSON.stringify(body)).to.deep.equal([200, []]);
    if (action === 'edit') model.set(value, true);
    else model.locked = action === 'lock';
    return JSON.stringify(body);
  }

  async function expectModel(id: string, models: ReadonlyMap<FieldName, Model>, what: string): Promise<void> {
    const [item] = await findKnownItems(api.deps.db, [id], PLACE);
    for (const [name, model] of models) {
      const held = item?.shown.get(name);
      const value = name === 'genres' && Array.isArray(held) ? [...held].toSorted((a, b) => (a < b ? -1 : 1)) : held;
      expect([value, item?.origins[name]], `${name} after ${what}`).to.deep.equal([model.value, model.origin]);
    }
  }
});

function fieldValue(name: FieldName, chance: (n: number) => number): unknown {
  const n = chance(5);
  if (name === 'year') return 1950 + n;
  if (name === 'genres') return [`a${n}`, `b${n}`];
  if (name === 'originalLanguage') return ['de', 'en', 'fr', 'it', 'es'][n];
  return `text ${n}`;
}

/** Numbers below n, the same for the same seed. */
function randomOf(seed: number): (n: number) => number {
  let state = seed * 2_654_435_761;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % n;
  };
}
