import { expect } from 'chai';
import fc from 'fast-check';
import { principalOf } from '#identity/account-row.ts';
import type { Principal } from '#identity/principal.ts';
import { visibleItemIds } from '#identity/visibility.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenCredit, givenItem, givenLibrary, givenShow, givenTag } from '#support/given-items.ts';

const PEOPLE = 6;
const STUDIOS = 2;
const AGES = [null, 0, 12, 18];

interface World {
  libraries: GivenLibrary[];
  items: { id: string; library: GivenLibrary }[];
  people: string[];
}

/** One change of the world; the numbers choose among what there is. */
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'credit',
      'credit',
      'uncredit',
      'tag',
      'age',
      'age',
      'label',
      'trash',
      'restore',
      'move',
      'delete',
    ),
    item: fc.nat(),
    person: fc.nat({ max: PEOPLE - 1 }),
    value: fc.nat({ max: 3 }),
  }),
  { minLength: 12, maxLength: 24 },
);
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** What the pages of people and studios say is compared with what single items and their credits say. */
describe('people and studios as each account sees them', function () {
  this.timeout(240_000);
  let api: Api;
  let owner: Person;
  const viewers: [name: string, person: Person][] = [];
  const labels: string[] = [];
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    const [denied, only] = [await api.given.member(), await api.given.member()];
    const label = async (name: string): Promise<string> =>
      (await api.as(owner).createLabel({ body: { name } })).body.id;
    labels.push(await label('Hidden'), await label('Shelf'));
    const access = (id: string, body: object) => api.as(owner).setLabelAccess({ params: { id }, body } as never);
    await access(labels[0] ?? '', { restricted: false, deny: [{ userId: denied.accountId }] });
    await access(labels[1] ?? '', { restricted: false, only: [{ userId: only.accountId }] });
    viewers.push(['owner', owner], ['member', await api.given.member()], ['denied', denied], ['only', only]);
    viewers.push(['child', await api.given.child(12)]);
    viewers.push(['strict child', await api.given.person('child', { age_limit: 12, hide_unrated: true })]);
    viewers.push(['stranger', await api.given.person('member', { library_mode: 'only' })]);
  });

  async function build(): Promise<World> {
    const { db } = api.deps;
    const films = await givenLibrary(db, 'movies');
    const shows = await givenLibrary(db, 'shows');
    const show = await givenShow(db, shows, { seasons: 2, episodes: 2 });
    const other = await givenShow(db, shows, { seasons: 1, episodes: 1 });
    const ids = [
      show.id,
      ...show.seasons,
      ...show.episodes.flat(),
      other.id,
      ...other.seasons,
      ...other.episodes.flat(),
    ];
    const items = ids.map((id) => ({ id, library: shows }));
    for (let n = 0; n < 4; n++) items.push({ id: await givenItem(db, films, { top: true }), library: films });
    const people = Array.from({ length: PEOPLE }, () => newId());
    await db('people').insert(people.map((id, n) => ({ id, name: `P${n}`, name_folded: `p${n}` })));
    return { libraries: [films, shows], items, people };
  }

  async function apply(world: World, { kind, item: at, person, value }: Step): Promise<void> {
    const { db } = api.deps;
    const { id, library } = world.items[at % world.items.length] ?? {
      id: '',
      library: world.libraries[0] as GivenLibrary,
    };
    const there = await db('items').where({ id }).first<{ type: string } | undefined>('type');
    if (!there) return;
    const personId = world.people[person];
    const changes: Record<string, () => Promise<unknown>> = {
      credit: () => givenCredit(db, id, { name: '', personId, role: value > 1 ? 'actor' : 'director' }),
      uncredit: () => db('credits').where({ item_id: id, person_id: personId }).delete(),
      tag: async () => {
        const name = `Studio ${value % STUDIOS}`;
        const row = { item_id: id, kind: 'studio', name_folded: name.toLowerCase() };
        if (await db('item_tags').where(row).first('name')) await db('item_tags').where(row).delete();
        else await givenTag(db, library, id, ['studio', name]);
      },
      age: () =>
        db('items')
          .where({ id })
          .update({ age_years: AGES[value] ?? null }),
      label: async () => {
        const add = { params: { id: labels[value % 2] ?? '' }, body: { [value > 1 ? 'add' : 'remove']: [id] } };
        await api.as(owner).setLabelItems(add as never);
      },
      trash: () =>
        db('items')
          .where({ id })
          .orWhere({ parent_id: id })
          .orWhere({ grandparent_id: id })
          .update({ trashed_at: new Date() }),
      restore: () => db('items').where({ library_id: library.id }).update({ trashed_at: null }),
      move: async () => {
        const show = world.items.filter((one) => one.library === library)[7];
        if (there.type === 'episode')
          await db('items').where({ id }).update({ parent_id: null, grandparent_id: show?.id });
      },
      delete: () => (there.type === 'episode' ? db('items').where({ id }).delete() : Promise.resolve()),
    };
    await changes[kind]?.();
  }

  /** The items that each owner stands on, by the credits or tags of single visible items. */
  async function expected(
    world: World,
    who: Principal,
    rows: { owner: string; item: string }[],
  ): Promise<Map<string, Set<string>>> {
    const { db } = api.deps;
    const all = await db('items')
      .whereIn(
        'library_id',
        world.libraries.map(({ id }) => id),
      )
      .select('*');
    const visible = new Set(
      await visibleItemIds(
        db,
        who,
        all.map(({ id }) => id as string),
      ),
    );
    const found = new Map<string, Set<string>>();
    for (const { owner: ownerId, item } of rows) {
      const row = all.find(({ id }) => id === item);
      if (!row || !visible.has(item)) continue;
      const above = { episode: row.grandparent_id ?? row.parent_id, season: row.parent_id }[row.type as string];
      const standing = (above ?? item) as string;
      if (visible.has(standing)) found.set(ownerId, (found.get(ownerId) ?? new Set()).add(standing));
    }
    return found;
  }

  async function check(world: World): Promise<void> {
    const { db } = api.deps;
    const credits = (await db('credits').whereIn('person_id', world.people)).map(({ person_id, item_id }) => ({
      owner: person_id,
      item: item_id,
    }));
    const tags = (
      await db('item_tags')
        .where({ kind: 'studio' })
        .whereIn(
          'library_id',
          world.libraries.map(({ id }) => id),
        )
    ).map(({ tag_id, item_id }) => ({ owner: tag_id, item: item_id }));
    for (const [name, person] of viewers) {
      const who = (await principalOf(db, person.accountId)) as Principal;
      const as = api.as(person);
      const known = await expected(world, who, credits);
      const listed = (await as.listPeople({ query: { limit: 200 } })).body.items.filter(({ id }) =>
        world.people.includes(id),
      );
      const counts = new Map([...known].map(([id, items]) => [id, items.size]));
      const uncredited = who.permissions.has('item:edit')
        ? world.people.filter((id) => !credits.some(({ owner: one }) => one === id))
        : [];
      for (const id of uncredited) counts.set(id, 0);
      expect(new Map(listed.map(({ id, itemCount }) => [id, itemCount])), name).to.deep.equal(counts);
      for (const id of world.people) {
        const items = known.get(id);
        const page = await as.listPersonItems({ params: { id } });
        if (!items && !uncredited.includes(id)) expect(page.status, name).to.equal(404);
        else expect(new Set(page.body.items.map(({ item }) => item.id)), name).to.deep.equal(items ?? new Set());
        if (!items) continue;
        const { body } = await as.getPerson({ params: { id }, query: { include: 'colleagues' } as never });
        const together = [...known].flatMap(([other, theirs]) => {
          const shared = [...theirs].filter((one) => items.has(one)).length;
          return other === id || shared === 0 ? [] : [[other, shared] as const];
        });
        expect(new Map(body.colleagues?.map((one) => [one.person.id, one.together])), name).to.deep.equal(
          new Map(together),
        );
      }
      const studios = await expected(world, who, tags);
      for (const library of world.libraries) {
        const answer = await as.listStudios({ params: { id: library.id }, query: { sort: '-itemCount' } });
        if (name === 'stranger') expect(answer.status).to.equal(404);
        else {
          const here = await db('studios').where({ library_id: library.id }).pluck('id');
          const wanted = new Map(
            [...studios].filter(([id]) => here.includes(id)).map(([id, items]) => [id, items.size]),
          );
          expect(new Map(answer.body.items.map(({ id, itemCount }) => [id, itemCount])), name).to.deep.equal(wanted);
        }
      }
    }
    const totals = await db('credited_counts')
      .where({ class_id: 0 })
      .whereIn('owner_id', world.people)
      .select('owner_id', 'items');
    for (const { owner_id, items } of totals) {
      const [row] = await db('credited_items').where({ owner_id }).count('* as n');
      expect(items).to.equal(Number(row?.['n']));
    }
    expect(await db('credited_due')).to.deep.equal([]);
    expect(await db('credited_marks')).to.deep.equal([]);
  }

  async function forget({ libraries, people }: World): Promise<void> {
    const ids = libraries.map(({ id }) => id);
    await api.deps.db('libraries').whereIn('id', ids).delete();
    await api.deps.db('people').whereIn('id', people).delete();
  }

  it('are the sum of the visible items, after any change', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (changes) => {
        const world = await build();
        try {
          for (const step of changes) await apply(world, step);
          await check(world);
        } finally {
          await forget(world);
        }
      }),
      { numRuns: Number(process.env.TEST_RUNS ?? 8) },
    );
  });
});
