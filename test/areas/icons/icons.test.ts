import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { givenLibrary } from '#support/given-items.ts';
import { factsOf, png } from '#support/pictures.ts';
import { zipOf } from '#support/zip-files.ts';
import { iconSlots } from '../../../api/areas/icons/built-in/slots.ts';

const FOYER = '01900000-0000-7000-8000-0000001c0001';
const BOLD = '01900000-0000-7000-8000-0000001c0002';
const HOME = {
  kind: 'MediaServer' as const,
  namespace: 'media',
  name: 'home',
  uid: '01900000-0000-7000-8000-00000000c0de',
};
const drawing = (path: string): Buffer =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="${path}" fill="red"/></svg>`);
const box = drawing('M0 0h24v24H0z');

describe('Icons', () => {
  let api: Api;
  let admin: TestClient;
  let member: TestClient;
  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
    member = api.as(await api.given.member());
  });
  let made = 0;
  beforeEach(async () => {
    await api.deps.db.raw('truncate icon_sets, libraries cascade');
    await api.deps.db('icon_choice').update({ active_id: FOYER });
  });

  const givenSet = async (more: object = {}, by = admin): Promise<string> => {
    made += 1;
    const answer = await by.createIconSet({ body: { name: `Set ${made}`, ...more } });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body.id;
  };
  const formOf = (files: Record<string, Buffer>, fields: Record<string, string> = {}): never => {
    const form = new FormData();
    for (const [name, text] of Object.entries(fields)) form.append(name, text);
    for (const [name, bytes] of Object.entries(files)) form.append('files', new Blob([new Uint8Array(bytes)]), name);
    return form as never;
  };
  const upload = (id: string, files: Record<string, Buffer>, fields: Record<string, string> = {}) =>
    admin.addIcons({ params: { id }, body: formOf(files, fields) });
  const slotsOf = async (id: string) => (await member.getIconSet({ params: { id } })).body.slots;
  const keys = async () => {
    const rows = await api.deps.db('outbox').where({ event: 'settings.changed' }).orderBy('id').select('payload');
    return rows.flatMap((row: { payload: { keys: string[] } }) => row.payload.keys);
  };
  const reason = (answer: Parameters<typeof errorOf>[0]) => errorOf(answer).details['reason'];

  describe('built-in', () => {
    it('fill every slot, are drawn of fixed ids and cannot be changed', async () => {
      const { items, slots, activeId } = (await member.listIconSets()).body;
      expect(items.map(({ id }) => id)).to.deep.equal([FOYER, BOLD]);
      expect([activeId, slots.length]).to.deep.equal([FOYER, iconSlots.length]);
      const { body, headers } = await member.getIconSet({ params: { id: 'active' } });
      expect(Object.keys(body.slots)).to.deep.equal(iconSlots);
      expect(body.slots['nav.home']).to.deep.include({ from: 'own' });
      const etag = headers.get('etag') ?? '';
      const again = await member.getIconSet({ params: { id: 'active' }, headers: { 'if-none-match': etag } });
      expect(again.status).to.equal(304);
      const [icon] = body.icons;
      for (const refused of [
        await admin.updateIconSet({ params: { id: FOYER }, body: { name: 'Mine' } }),
        await admin.deleteIconSet({ params: { id: FOYER } }),
        await upload(FOYER, { 'a.svg': box }),
        await admin.updateIcon({ params: { id: icon?.id ?? '' }, body: { label: 'x' } }),
        await admin.deleteIcon({ params: { id: icon?.id ?? '' } }),
      ])
        expect([refused.status, reason(refused)]).to.deep.equal([409, 'built-in']);
    });

    it('are served as PNG and WebP of the size next above, by Accept, with ETag and year', async () => {
      const [icon] = (await member.getIconSet({ params: { id: FOYER } })).body.icons;
      const params = { id: icon?.id ?? '' };
      const given = await member.getIconImage({ params, query: { size: 40 }, headers: { accept: 'image/webp,*/*' } });
      expect(given.headers.get('content-type')).to.equal('image/webp');
      expect(given.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(given.headers.get('cache-control')).to.equal('private, no-cache');
      expect(await factsOf(given.body as unknown as Buffer)).to.include({ width: 48, height: 48, format: 'webp' });
      const old = await member.getIconImage({ params, query: { size: 512, v: '1' }, headers: { accept: 'image/png' } });
      expect(old.headers.get('cache-control')).to.include('immutable');
      expect(await factsOf(old.body as unknown as Buffer)).to.include({ width: 512, format: 'png' });
      const headers = { 'if-none-match': given.headers.get('etag') ?? '', accept: '*/*' };
      expect((await member.getIconImage({ params, query: { size: 40 }, headers })).status).to.equal(304);
      const unknown = { id: '01900000-0000-7000-8000-00000000dead' };
      expect((await member.getIconImage({ params: unknown })).status).to.equal(404);
    });
  });

  describe('own sets', () => {
    it('copy another set, and fall back where they are empty', async () => {
      const base = await givenSet({ fallbackId: BOLD });
      const child = await givenSet({ fallbackId: base });
      await upload(base, { 'nav-home.svg': box, 'nav-search.svg': box });
      await upload(child, { 'nav-home.svg': drawing('M0 0h9v9z') });
      const slots = await slotsOf(child);
      expect(['nav.home', 'nav.search', 'nav.mine'].map((slot) => slots[slot]?.from)).to.deep.equal([
        'own',
        'fallback',
        'built-in',
      ]);
      const copy = await givenSet({ copyOf: base, license: 'CC0' });
      const { icons } = (await admin.getIconSet({ params: { id: copy } })).body;
      expect(icons.map(({ name, slot }) => [name, slot])).to.deep.equal([
        ['nav-home', 'nav.home'],
        ['nav-search', 'nav.search'],
      ]);
      const fixed = await givenSet({ copyOf: FOYER });
      const [taken] = (await admin.getIconSet({ params: { id: fixed } })).body.icons;
      const drawn = await member.getIconImage({ params: { id: taken?.id ?? '' }, query: { format: 'png' } });
      expect(await factsOf(drawn.body as unknown as Buffer)).to.include({ width: 64 });
      expect((await admin.updateIcon({ params: { id: taken?.id ?? '' }, body: { label: 'Mine' } })).status).to.equal(
        200,
      );
      expect((await admin.deleteIconSet({ params: { id: base } })).status).to.equal(204);
      const left = (await admin.listIconSets()).body.items.find(({ id }) => id === child);
      expect(left?.fallbackId).to.equal(BOLD);
    });

    it('are refused for a circle, a long chain, names and unknown sets', async () => {
      const one = await givenSet({ name: 'One' });
      const two = await givenSet({ fallbackId: one });
      const three = await givenSet({ fallbackId: two });
      const bad = async (body: object) =>
        errorOf(await admin.createIconSet({ body: { name: 'Four', ...body } as never }));
      expect((await bad({ fallbackId: three })).details['issues'][0].code).to.equal('too_deep');
      expect((await bad({ fallbackId: '01900000-0000-7000-8000-00000000dead' })).details['issues'][0].code).to.equal(
        'unknown_set',
      );
      expect((await bad({ copyOf: '01900000-0000-7000-8000-00000000dead' })).details['issues'][0].code).to.equal(
        'unknown_set',
      );
      expect((await bad({ name: 'ONE' })).details['reason']).to.equal('duplicate-name');
      expect((await bad({ name: 'foyer bold' })).details['reason']).to.equal('duplicate-name');
      const circle = await admin.updateIconSet({ params: { id: one }, body: { fallbackId: two } });
      expect(errorOf(circle).details['issues'][0].code).to.equal('circular');
      const stale = await admin.updateIconSet({ params: { id: one }, body: { revision: 9, author: 'x' } });
      expect(reason(stale)).to.equal('revision');
      const tried = await admin.createIconSet({ body: { name: 'Tried', validateOnly: true } });
      expect([tried.status, (await admin.listIconSets()).body.items.length]).to.deep.equal([200, 5]);
      await api.deps.db.raw(`insert into icon_sets (id, name, name_folded, fallback_id)
        select gen_random_uuid(), n::text, 'x' || n, '${FOYER}' from generate_series(1, 47) n`);
      expect((await bad({})).details['reason']).to.equal('too-many');
    });

    it('are active one at a time; a change of the shown set is announced, of another one is not', async () => {
      const own = await givenSet();
      const other = await givenSet();
      const before = (await keys()).length;
      await upload(other, { 'a.svg': box });
      await admin.updateIconSet({ params: { id: own }, body: { active: true } });
      await upload(own, { 'nav-home.svg': box });
      expect((await keys()).slice(before)).to.deep.equal(['icons.active', 'icons.active']);
      const active = (await member.listIconSets()).body.items.filter((set) => set.active).map(({ id }) => id);
      expect(active).to.deep.equal([own]);
      expect((await member.getIconSet({ params: { id: 'active' } })).body.slots['nav.home']?.from).to.equal('own');
      expect(reason(await admin.deleteIconSet({ params: { id: own } }))).to.equal('icon-set-active');
      expect((await admin.updateIconSet({ params: { id: BOLD }, body: { active: true } })).body.active).to.equal(true);
      expect((await admin.deleteIconSet({ params: { id: own } })).status).to.equal(204);
    });

    it('assign slots to their own icons only, all or nothing', async () => {
      const id = await givenSet();
      const { added } = (await upload(id, { 'a.svg': box, 'b.svg': box })).body;
      const [a = '', b = ''] = added.map((icon) => icon.id);
      const put = (slots: object) => admin.updateIconSet({ params: { id }, body: { slots } });
      expect((await put({ 'nav.home': a, 'nav.search': b })).body.slotsFilled).to.equal(2);
      expect((await put({ 'nav.home': b, 'nav.search': null })).status).to.equal(200);
      expect([(await slotsOf(id))['nav.home']?.iconId, (await slotsOf(id))['nav.search']?.from]).to.deep.equal([
        b,
        'built-in',
      ]);
      const foreign = Object.values(await slotsOf(FOYER))[0]?.iconId ?? '';
      expect((await put({ 'nav.mine': a, 'nav.home': foreign })).status).to.equal(400);
      expect((await slotsOf(id))['nav.mine']?.from).to.equal('built-in');
      expect((await put({ 'nav.nowhere': a })).status).to.equal(400);
    });
  });

  describe('uploads', () => {
    it('judge each file for itself, by name and content', async () => {
      const id = await givenSet();
      const files = {
        'Home Éclair.SVG': box,
        'b.png': await png(64, 64),
        'evil.svg': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'),
        '---.svg': box,
        'dir/b.svg': box,
      };
      const meta = JSON.stringify([
        { file: 'b.png', label: 'Be', keywords: ['bee'], slot: 'kind.comic', tintable: false },
      ]);
      const answer = await upload(id, files, { meta });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
      const { added, refused } = answer.body;
      expect(added.map(({ name, label, slot, tintable }) => [name, label, slot, tintable])).to.deep.equal([
        ['home-eclair', 'Home eclair', undefined, true],
        ['b', 'Be', 'kind.comic', false],
      ]);
      expect(refused.map(({ name, reason: why }) => [name, why])).to.have.deep.members([
        ['evil.svg', 'svg-active-content'],
        ['---.svg', 'name-invalid'],
        ['b.svg', 'duplicate-name'],
      ]);
      const again = await upload(id, { 'b.png': box });
      expect(errorOf(again).details['issues'][0]).to.include({ code: 'duplicate_name' });
    });

    it('replace by name: the id stays, the version rises when the picture differs', async () => {
      const id = await givenSet();
      const [first] = (await upload(id, { 'nav-home.svg': box })).body.added;
      const same = await upload(id, { 'nav-home.svg': box }, { onDuplicate: 'replace' });
      expect(same.body.replaced[0]).to.include({ id: first?.id, version: 1, slot: 'nav.home' });
      const other = await upload(id, { 'nav-home.svg': drawing('M0 0h9v9z') }, { onDuplicate: 'replace' });
      expect(other.body.replaced[0]).to.include({ id: first?.id, version: 2 });
    });

    it('of a ZIP are read file by file, and kept by hash as nothing but squares', async () => {
      const id = await givenSet();
      const zip = zipOf(
        { '../../nav-home.svg': box, 'x/nav-search.png': await png(32, 32), 'readme.txt': 'hello there, you' },
        'deflated',
      );
      const { added, refused } = (await upload(id, { 'all.zip': zip })).body;
      expect(added.map(({ slot }) => slot)).to.deep.equal(['nav.home', 'nav.search']);
      expect(refused).to.deep.equal([{ name: 'readme.txt', reason: 'not-an-image' }]);
      for await (const { key } of api.deps.objects.list('foyer-artwork', 'icons/'))
        expect(key).to.match(/^icons\/[0-9a-f]{64}$/);
      const bomb = await upload(id, { 'bomb.zip': zipOf({ 'a.svg': Buffer.alloc(1 << 20) }, 'deflated') });
      expect(errorOf(bomb).details['issues'][0].code).to.equal('archive_limits');
    });

    it('over the sizes are 413, over 2,000 icons 409, and once by Idempotency-Key', async () => {
      const id = await givenSet();
      expect((await upload(id, { 'a.png': Buffer.alloc((25 << 20) + 1) })).status).to.equal(413);
      const form = () => {
        const parts = new FormData();
        parts.append('files', new Blob([new Uint8Array(box)]), 'one.svg');
        return parts as never;
      };
      const headers = { 'idempotency-key': 'k1' };
      const first = await admin.addIcons({ params: { id }, body: form(), headers });
      const second = await admin.addIcons({ params: { id }, body: form(), headers });
      expect([first.status, second.status]).to.deep.equal([201, 200]);
      expect(second.body.added[0]?.id).to.equal(first.body.added[0]?.id);
      await api.deps.db.raw(`insert into icons (id, set_id, name, label, tintable, source_kind, width, height, hash)
        select gen_random_uuid(), '${id}', 'n' || n, 'x', true, 'png', 1, 1, 'h' from generate_series(1, 1999) n`);
      expect(reason(await upload(id, { 'more.svg': box }))).to.equal('too-many');
    });

    it('of the operator make a declared set exactly its archive, and return the hash to it', async () => {
      const operator = api.as({ headers: { authorization: `Bearer ${api.operatorKey}` } } as never);
      const id = await givenSet({ name: 'declared', managedBy: HOME }, operator);
      const replace = { onDuplicate: 'replace' };
      const zip = zipOf({ 'a.svg': box, 'b.svg': box });
      await operator.addIcons({ params: { id }, body: formOf({ 'x.zip': zip }, replace) });
      const seen = async (by: TestClient) => (await by.getIconSet({ params: { id } })).body;
      expect((await seen(operator)).sourceSha256).to.equal(createHash('sha256').update(zip).digest('hex'));
      expect(await seen(admin)).to.not.have.property('sourceSha256');
      await operator.addIcons({
        params: { id },
        body: formOf({ 'x.zip': zipOf({ 'b.svg': box, 'c.svg': box }) }, replace),
      });
      expect((await seen(admin)).icons.map(({ name }) => name)).to.deep.equal(['b', 'c']);
      expect(reason(await upload(id, { 'd.svg': box }))).to.equal('managed-by-resource');
      expect((await admin.updateIconSet({ params: { id }, body: { active: true } })).status).to.equal(200);
    });
  });

  describe('of libraries and types', () => {
    it('are named by id; a used one is kept, or taken from them by force, set or type alike', async () => {
      const id = await givenSet();
      const { added } = (await upload(id, { 'a.svg': box, 'b.svg': box })).body;
      const [a = '', b = ''] = added.map((icon) => icon.id);
      const { id: library } = await givenLibrary(api.deps.db, 'movies');
      const name = (icon: string | null) => admin.updateLibrary({ params: { id: library }, body: { icon } });
      expect((await name('film')).status).to.equal(400);
      expect((await name('01900000-0000-7000-8000-00000000dead')).status).to.equal(400);
      expect((await name(a)).body.icon).to.equal(a);
      const type = { key: 'custom:icons', name: 'Icons', base: 'movies' as const };
      expect(
        (await admin.createLibraryType({ body: { ...type, iconId: '01900000-0000-7000-8000-00000000dead' } })).status,
      ).to.equal(400);
      expect((await admin.createLibraryType({ body: { ...type, iconId: b } })).status).to.equal(201);
      const refused = await admin.deleteIcon({ params: { id: a } });
      expect(errorOf(refused).details).to.deep.include({ reason: 'icon-in-use', types: [] });
      expect(errorOf(refused).details['libraries'].map((one: { id: string }) => one.id)).to.deep.equal([library]);
      expect((await admin.getIconSet({ params: { id } })).body.icons.map(({ inUse }) => inUse)).to.deep.equal([1, 1]);
      expect((await admin.deleteIcon({ params: { id: a }, query: { force: true } })).status).to.equal(204);
      expect((await admin.getLibrary({ params: { id: library } })).body.icon).to.equal(null);
      expect((await admin.deleteIconSet({ params: { id } })).status).to.equal(204);
      const types = (await admin.listLibraryTypes()).body.items;
      expect(types.find(({ key }) => key === type.key)).to.not.have.property('iconId');
    });

    it('change one by one: a picture, a slot that another one loses, a refused file', async () => {
      const id = await givenSet();
      const { added } = (await upload(id, { 'nav-home.svg': box, 'b.svg': box })).body;
      const [a = '', b = ''] = added.map((icon) => icon.id);
      const moved = await admin.updateIcon({ params: { id: b }, body: { slot: 'nav.home', keywords: ['x'] } });
      expect(moved.body).to.deep.include({ slot: 'nav.home', version: 1, keywords: ['x'] });
      expect(reason(await admin.updateIcon({ params: { id: b }, body: { name: 'nav-home' } }))).to.equal(
        'duplicate-name',
      );
      const send = (bytes: Buffer) => {
        const form = new FormData();
        form.append('file', new Blob([new Uint8Array(bytes)]), 'a');
        return admin.updateIcon({ params: { id: a }, body: form as never });
      };
      expect((await send(drawing('M1 1h9v9z'))).body).to.include({ id: a, version: 2 });
      const bad = await send(Buffer.from('GIF89a and more bytes'));
      expect(errorOf(bad).details['issues'][0]).to.include({ code: 'icon_rejected', message: 'unsupported-format' });
      expect((await slotsOf(id))['nav.home']?.iconId).to.equal(b);
    });
  });

  it('are found over all sets, best matches first, page by page', async () => {
    const id = await givenSet();
    const meta = JSON.stringify([{ file: 'z.svg', keywords: ['comical'] }]);
    await upload(id, { 'comic.svg': box, 'z.svg': box, 'comic-strip.svg': box }, { meta });
    const find = async (query: object) => (await member.listIcons({ query: query as never })).body;
    const { items } = await find({ q: 'Comic', setIds: id });
    expect(items.map(({ name }) => name)).to.deep.equal(['comic', 'comic-strip', 'z']);
    expect((await find({ slot: 'nav.home' })).items.map(({ setId }) => setId)).to.have.members([FOYER, BOLD]);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { items: some, page } = await find({ limit: 100, sort: 'setName,name', ...(cursor && { cursor }) });
      seen.push(...some.map((icon) => icon.id));
      cursor = page.cursor ?? undefined;
    } while (cursor);
    expect([seen.length, new Set(seen).size]).to.deep.equal([2 * iconSlots.length + 3, 2 * iconSlots.length + 3]);
    const unused = (await admin.listIcons({ query: { unused: true, setIds: id } })).body.items;
    expect(unused).to.have.length(3);
  });
});
