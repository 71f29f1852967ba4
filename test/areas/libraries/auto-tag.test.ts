import { expect } from 'chai';
import { parseTemplate, readTemplate } from '#areas/libraries/auto-tag/template.ts';
import { Names } from '#areas/libraries/auto-tag/words.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary, givenTag } from '#support/given-items.ts';
import { autoTag } from '#workers/auto-tag.ts';
import type { Work } from '#workers/work.ts';

describe('Libraries: autoTagLibrary', () => {
  let api: Api;
  let admin: TestClient;
  let library: GivenLibrary;
  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
    const { db } = api.deps;
    for (const name of ['Max Schreck', 'Greta Schröder', 'Max'])
      await db('people').insert({ id: newId(), name, name_folded: db.raw('foyer_fold(?)', [name]) });
    const known = await givenLibrary(db, 'movies');
    const item = await givenItem(db, known);
    await givenTag(db, known, item, ['studio', 'Prana-Film']);
    await givenTag(db, known, item, ['genre', 'Horror']);
    await givenTag(db, known, item, ['tag', 'ab']);
    await admin.createLabel({ body: { name: 'Silent', color: '#112233' } });
  });
  beforeEach(async () => {
    library = await givenLibrary(api.deps.db, 'movies');
  });

  const film = async (path: string, more = {}): Promise<string> => {
    const id = await givenItem(api.deps.db, library, { file_count: 0, ...more });
    await givenFile(api.deps.db, library, id, { path });
    return id;
  };
  const run = async (body: object) => (await admin.autoTagLibrary({ params: { id: library.id }, body })).body;
  const ALL = { kinds: ['people', 'studios', 'genres', 'tags', 'labels'] };
  const tagsOf = async (id: string) => {
    const tags = await api.deps.db('item_tags').where({ item_id: id }).orderBy('name').pluck('name');
    const people = await api.deps
      .db('credits as c')
      .join('people as p', 'p.id', 'c.person_id')
      .where('c.item_id', id)
      .orderBy('c.position')
      .pluck('p.name');
    return [...tags, ...people];
  };

  it('finds known names as whole words, without case and accents, the longest first, and adds each once', async () => {
    const id = await film('horror/PRANA_film - max.schreck, Greta Schroder/silent maximum.mkv');
    const dry = await run({ ...ALL, dryRun: true });
    expect(dry).to.include({ dryRun: true, examined: 1, matched: 1, applied: 0 });
    expect(dry.matches.map(({ kind, value, matchedText }) => [kind, value, matchedText])).to.deep.equal([
      ['genres', 'Horror', 'horror'],
      ['studios', 'Prana-Film', 'PRANA_film'],
      ['people', 'Max Schreck', 'max.schreck'],
      ['people', 'Greta Schröder', 'Greta Schroder'],
      ['labels', 'Silent', 'silent'],
    ]);
    expect(await tagsOf(id)).to.deep.equal([]);
    expect(await run(ALL)).to.include({ applied: 5 });
    expect(await tagsOf(id)).to.deep.equal(['Horror', 'Prana-Film', 'Max Schreck', 'Greta Schröder']);
    const labels = await api.deps.db('item_labels').where({ item_id: id }).count<{ count: number }[]>('* as count');
    expect(labels).to.deep.equal([{ count: 1 }]);
    expect(await run(ALL)).to.include({ matched: 1, applied: 0 });
    const event = await api.deps
      .db('outbox')
      .where({ event: 'item.updated' })
      .whereRaw(`payload ->> 'itemId' = ?`, [id]);
    expect(new Set(event.flatMap(({ payload }) => payload.changed))).to.have.keys([
      'genres',
      'labels',
      'people',
      'studios',
    ]);
  });

  it('leaves locked fields, other items and short names alone', async () => {
    const locked = await film('Horror/Max Schreck.mkv', { locked_fields: ['people'] });
    const other = await film('Horror/ab.mkv');
    await run({ kinds: ['people', 'genres', 'tags'], itemIds: [locked] });
    expect([await tagsOf(locked), await tagsOf(other)]).to.deep.equal([['Horror'], []]);
    await run({ kinds: ['tags'], minLength: 2 });
    expect(await tagsOf(other)).to.deep.equal(['ab']);
  });

  it('adds what a template names, also when it is new', async () => {
    const id = await film('New Studio - 2001-02-03 - A title [fresh].mkv');
    const plain = await film('Not of the form.mkv');
    const templates = ['{studio} - {date} - {title} [{tag}]'];
    expect(await run({ kinds: ['tags', 'studios'], templates })).to.include({ applied: 2 });
    expect([await tagsOf(id), await tagsOf(plain)]).to.deep.equal([['New Studio', 'fresh'], []]);
    for (const bad of ['no placeholder', '{title}{date}', '{actor}', '{title'])
      expect(
        (await admin.autoTagLibrary({ params: { id: library.id }, body: { ...ALL, templates: [bad] } })).status,
      ).to.equal(400);
  });

  it('goes on as a job behind 2,000 items, from its checkpoint', async () => {
    const { db } = api.deps;
    await db.raw(
      `insert into items (id, library_id, type, identity_key, title, sort_title, file_count)
       select gen_random_uuid(), ?, 'movie', 'k' || n, 'T' || n, 't' || n, 1 from generate_series(1, 2600) n`,
      [library.id],
    );
    await db.raw(
      `insert into media_files (id, item_id, library_id, folder_id, storage_id, path, size_bytes, modified_ms)
       select gen_random_uuid(), i.id, i.library_id, ?, '01900000-0000-7000-8000-000000000001', 'horror/' || i.id || '.mkv', 1, 1
       from items i where i.library_id = ?`,
      [library.folderId, library.id],
    );
    const answer = await run({ kinds: ['genres'] });
    expect(answer).to.include({ examined: 2000, applied: 2000 });
    expect(answer.matches).to.have.length(200);
    const job = await db('jobs')
      .where({ id: answer.jobId ?? '' })
      .first<{ payload: never }>('payload');
    const kept: unknown[] = [];
    const work = {
      db,
      signal: new AbortController().signal,
      checkpoint: null,
      keep: async (_: unknown, at: unknown) => kept.push(at),
    };
    expect(await autoTag(job.payload, work as unknown as Work)).to.include({ examined: 600, applied: 600 });
    expect(kept).to.have.length(1);
    const again = await autoTag(job.payload, { ...work, checkpoint: kept[0] } as unknown as Work);
    expect(again).to.include({ examined: 600, applied: 500 });
  });

  it('gives no label that restricts without the right to, and names no hidden item', async () => {
    const { db } = api.deps;
    const rights = '{"library:manage":true,"item:edit":true}';
    const manager = await api.given.person('member', { own_permissions: rights });
    const label = (await admin.createLabel({ body: { name: 'Secret' } })).body.id;
    const deny = [{ userId: manager.accountId }];
    await admin.setLabelAccess({ params: { id: label }, body: { restricted: false, allow: [], deny, only: [] } });
    await db('libraries').where({ id: library.id }).update({ everyone: true });
    const open = await film('Secret Silent.mkv');
    const hidden = await film('Silent Secret.mkv');
    await admin.setLabelItems({ params: { id: label }, body: { add: [hidden] } });
    const { status, body } = await api.as(manager).autoTagLibrary({ params: { id: library.id }, body: ALL as never });
    expect(status).to.equal(200);
    expect(body.matches.map(({ itemId, value }) => [itemId, value])).to.deep.equal([[open, 'Silent']]);
  });

  it('reads hostile names in linear time', () => {
    const names = new Names<string>();
    for (let n = 1; n <= 20; n += 1) names.add('a '.repeat(n), `a${n}`);
    names.add('a '.repeat(21), 'too long');
    const long = 'a '.repeat(100_000);
    const found = [...names.in(`${long}b`)];
    expect(found).to.have.length(5000);
    expect(found[0]?.values).to.deep.equal(['a20']);
    const template = parseTemplate('{title}-{tag}-{person}');
    expect(template && readTemplate(template, '-'.repeat(200_000))?.map(({ value }) => value.length)).to.deep.equal([
      1, 1, 199_996,
    ]);
  });
});
