import { expect } from 'chai';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';

describe('custom values in edits', () => {
  let api: Api;
  let admin: TestClient;
  let films: GivenLibrary;

  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
    films = await givenLibrary(api.deps.db, 'movies', { everyone: true });
    for (const field of [
      { key: 'shelf', label: 'Shelf', kind: 'text' as const, itemTypes: ['movie'] },
      { key: 'discs', label: 'Discs', kind: 'number' as const, min: 1, itemTypes: ['movie'] },
      { key: 'studio_no', label: 'Number', kind: 'text' as const, itemTypes: ['show'] },
    ])
      expect((await admin.createCustomField({ body: field } as never)).status).to.equal(201);
  });

  const film = (title: string) => givenItem(api.deps.db, films, { title, top: true });
  const edit = (id: string, body: object) => admin.updateItem({ params: { id }, body } as never);
  const custom = async (id: string) =>
    (await admin.getItem({ params: { id }, query: { include: 'custom' } })).body.custom;
  const lastAudit = async () =>
    (await api.deps.db('audit_log').where({ action: 'item.edited' }).orderBy('id', 'desc').first('details'))?.details;

  it('are set with other fields, shown with their origin, in the audit log and the event', async () => {
    const id = await film('One');
    const before = await api.deps.db('items').where({ id }).first('revision');
    const set = await edit(id, { custom: { shelf: 'A3', discs: 2 } });
    expect(set.status, JSON.stringify(set.body)).to.equal(200);
    expect(await custom(id)).to.deep.equal({ shelf: 'A3', discs: 2 });
    const after = await api.deps.db('items').where({ id }).first('revision');
    expect(after?.revision).to.be.greaterThan(before?.revision ?? 0);
    const event = await api.deps
      .db('outbox')
      .where({ event: 'item.updated' })
      .whereRaw(`facts ->> 'itemId' = ?`, [id])
      .orderBy('seq', 'desc')
      .first('payload');
    expect(event?.payload).to.deep.include({ changed: ['custom'] });
    expect((await lastAudit()) as object).to.deep.include({
      changes: [
        { field: 'custom.shelf', old: null, new: 'A3' },
        { field: 'custom.discs', old: null, new: 2 },
      ],
    });
    await edit(id, { custom: { shelf: null } });
    expect(await custom(id)).to.deep.equal({ discs: 2 });
    const fields = (await admin.getItemFields({ params: { id } })).body.items.filter(({ field }) =>
      field.startsWith('custom.'),
    );
    expect(fields.map(({ field, value, source }) => [field, value, source])).to.deep.equal([
      ['custom.discs', 2, 'person'],
      ['custom.shelf', null, 'default'],
    ]);
  });

  it('are refused with the whole edit, by field', async () => {
    const id = await film('Two');
    const { status, ...answer } = await edit(id, { title: 'Renamed', custom: { discs: 0, none: 'x', studio_no: '1' } });
    const issues = errorOf({ status, ...answer } as never).details['issues'] as { path: string[]; code: string }[];
    expect([status, issues.map(({ path, code }) => `${path.join('.')} ${code}`)]).to.deep.equal([
      400,
      ['body.custom.discs too_small', 'body.custom.none unknown_field', 'body.custom.studio_no not_for_type'],
    ]);
    expect((await admin.getItem({ params: { id } })).body.title).to.equal('Two');
  });

  it('are set in bulk, where an item that has no such field does not stop the rest', async () => {
    const shows = await givenLibrary(api.deps.db, 'shows', { everyone: true });
    const [one, two] = [await film('Three'), await film('Four')];
    const show = await givenItem(api.deps.db, shows, { type: 'show', title: 'Show', top: true });
    const itemIds = [one, two, show];
    const change = (body: object) => admin.changeItemsInBulk({ body: { action: 'edit', itemIds, ...body } } as never);
    const dry = await change({ set: { custom: { shelf: 'B1' } }, dryRun: true });
    expect([dry.body.changed, dry.body.refused, await custom(one)]).to.deep.equal([
      2,
      [{ itemId: show, reason: 'type' }],
      {},
    ]);
    const done = await change({ set: { custom: { shelf: 'B1' }, tagline: 'Shelved' } });
    expect([done.status, done.body.changed, done.body.refused]).to.deep.equal([
      200,
      2,
      [{ itemId: show, reason: 'type' }],
    ]);
    expect([await custom(one), await custom(two)]).to.deep.equal([{ shelf: 'B1' }, { shelf: 'B1' }]);
    const wrong = await change({ set: { custom: { discs: -1 } }, itemIds: [one] });
    expect([wrong.body.changed, wrong.body.refused]).to.deep.equal([0, [{ itemId: one, reason: 'invalid' }]]);
  });

  it('of hundreds of items are written by about as many statements as those of two, and undone by nulls', async () => {
    const { db } = api.deps;
    const change = (itemIds: string[], set: object) =>
      admin.changeItemsInBulk({ body: { action: 'edit', itemIds, set } });
    const statements = async (itemIds: string[], set: object): Promise<number> => {
      let count = 0;
      const note = () => count++;
      db.on('query', note);
      const { body } = await change(itemIds, set);
      db.off('query', note);
      expect([body.changed, body.refused]).to.deep.equal([itemIds.length, []]);
      return count;
    };
    const ids = await Promise.all(Array.from({ length: 120 }, (_, n) => film(`Many ${n}`)));
    const [one = '', two = ''] = ids;
    await edit(one, { custom: { shelf: 'Own' } });
    const few = await statements([await film('A'), await film('B')], { custom: { shelf: 'C1', discs: 3 } });
    const many = await statements(ids, { custom: { shelf: 'C1', discs: 3 } });
    expect(many, 'other work of the server has statements too').to.be.below(few + ids.length / 2);
    const audits = await db('audit_log').where({ action: 'item.edited' }).whereRaw(`details ->> 'itemId' = ?`, [one]);
    expect(audits.map(({ details }) => (details as { changes: object[] }).changes).at(-1)).to.deep.equal([
      { field: 'custom.shelf', old: 'Own', new: 'C1' },
      { field: 'custom.discs', old: null, new: 3 },
    ]);
    expect((await change(ids, { custom: { shelf: 'C1' } })).body).to.deep.include({
      changed: 0,
      unchanged: ids.length,
    });
    await change(ids, { custom: { shelf: null } });
    expect([await custom(one), await custom(two)]).to.deep.equal([{ discs: 3 }, { discs: 3 }]);
  });

  it('over 64 KiB are refused for the item that holds the most, and for no other', async () => {
    const [full, empty] = [await film('Full'), await film('Empty')];
    for (let n = 0; n < 4; n++) {
      const field = { key: `notes_${n}`, label: 'Notes', kind: 'long-text' as const, itemTypes: ['movie'] };
      await admin.createCustomField({ body: field });
      if (n < 3) await edit(full, { custom: { [field.key]: 'x'.repeat(20_000) } });
    }
    const set = { custom: { notes_3: 'y'.repeat(6000) } };
    const done = await admin.changeItemsInBulk({ body: { action: 'edit', itemIds: [full, empty], set } });
    expect([done.body.changed, done.body.refused]).to.deep.equal([1, [{ itemId: full, reason: 'invalid' }]]);
    expect((await edit(full, set)).status).to.equal(400);
    expect(await custom(empty)).to.deep.equal({ notes_3: 'y'.repeat(6000) });
  });
});
