import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { forgetReplacedLogos } from '#areas/branding/public.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { factsOf, gif, pixel, png } from '#support/pictures.ts';
import { temporaryFolder } from '#support/stores.ts';

const image = { 'content-type': 'image/png' };
const place = (kind: string, scheme: string) => ({ params: { kind, scheme } });

describe('Branding', () => {
  let api: Api;
  let admin: TestClient;
  let changes: () => Promise<string[][]>;

  const start = async (environment: Record<string, string> = {}) => {
    api = await startApi(environment);
    admin = api.as(await api.given.owner());
    changes = async () => {
      const rows = await api.deps.db('outbox').where({ event: 'settings.changed' }).orderBy('id').select('payload');
      return rows.map((row: { payload: { keys: string[] } }) => row.payload.keys);
    };
  };
  const put = (kind: string, scheme: string, ...[body, more = {}]: [Buffer, object?]) =>
    admin.setBrandingLogo({ ...place(kind, scheme), body, headers: image, ...more });

  describe('texts', () => {
    before(() => start());

    it('are the built-in ones for everybody, with an ETag by revision', async () => {
      const answer = await api.anyone.getBranding();
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.include({
        serverName: 'Foyer',
        showName: true,
        links: [],
        loading: { motion: 'pulse', minMs: 0 },
      });
      for (const kind of ['main', 'loading'] as const)
        for (const scheme of ['dark', 'light'] as const)
          expect(answer.body.logos[kind][scheme]).to.include({ own: false, alt: 'Foyer', animated: false });
      const etag = answer.headers.get('etag') ?? '';
      expect(etag).to.match(new RegExp(`^"${answer.body.revision}`));
      expect((await api.anyone.getBranding({ headers: { 'if-none-match': etag } })).status).to.equal(304);
    });

    it('change field by field, raise the revision and announce public keys; null and unchanged values do not', async () => {
      const before = (await api.anyone.getBranding()).body.revision;
      const earlier = (await changes()).length;
      const body = {
        ...{
          showName: false,
          accent: '#FFAA00',
          background: '#000000',
          signInMessage: 'Hello\r\n<b>you</b>',
          footer: 'F',
        },
        ...{
          links: [{ label: 'Help', url: 'https://example.org/help' }],
          loading: { minMs: 500 },
          alt: { main: 'Our house' },
        },
      };
      const made = await admin.updateBranding({ body });
      expect(made.status, JSON.stringify(made.body)).to.equal(200);
      expect(made.body).to.deep.include({
        accent: '#ffaa00',
        signInMessage: 'Hello\n<b>you</b>',
        footer: 'F',
        warnings: [],
      });
      expect(made.body).to.deep.include({
        links: body.links,
        loading: { motion: 'pulse', minMs: 500 },
        showName: false,
      });
      expect(made.body.logos.main.dark.alt).to.equal('Our house');
      expect(made.body.logos.loading.dark.alt).to.equal('Foyer');
      expect(made.body.revision).to.equal(before + 1);
      const [keys = []] = (await changes()).slice(earlier);
      expect(keys).to.have.members(
        ['showName', 'accent', 'background', 'signInMessage', 'footer', 'links', 'loading', 'alt'].map(
          (key) => `branding.${key}`,
        ),
      );
      expect((await api.anyone.getBranding()).body.accent).to.equal('#ffaa00');
      expect((await admin.updateBranding({ body })).body.revision).to.equal(before + 1);
      expect(await changes()).to.have.length(earlier + 1);
      const cleared = await admin.updateBranding({ body: { accent: null, signInMessage: '' } });
      expect(cleared.body).to.not.have.any.keys('accent', 'signInMessage');
      expect(cleared.body.revision).to.equal(before + 2);
    });

    it('warn of colours that are hard to read, and take them', async () => {
      const made = await admin.updateBranding({ body: { accent: '#777777', background: '#888888' } });
      expect(made.body.warnings.map(({ key }) => key)).to.deep.equal(['accent']);
      expect((await admin.updateBranding({ body: { background: '#ffffff' } })).body.warnings).to.deep.equal([]);
    });

    it('reject invalid values: colours, controls, eleven breaks, addresses that are not https', async () => {
      const wrong: [object, string][] = [
        [{ accent: 'red' }, 'invalid_format'],
        [{ signInMessage: 'a\u0007b' }, 'control_character'],
        [{ footer: 'a\tb' }, 'control_character'],
        [{ signInMessage: 'x\n'.repeat(11) }, 'too_many_lines'],
        [{ signInMessage: 'x'.repeat(501) }, 'too_big'],
        [{ links: [{ label: 'x', url: 'http://example.org' }] }, 'invalid_url'],
        [{ links: [{ label: 'x', url: 'javascript:alert(1)' }] }, 'invalid_url'],
        [{ links: Array.from({ length: 4 }, () => ({ label: 'x', url: 'https://a.example' })) }, 'too_big'],
        [{ loading: { minMs: 2001 } }, 'too_big'],
        [{ serverName: 'x' }, 'unknown_field'],
      ];
      for (const [body, code] of wrong) {
        const answer = await admin.updateBranding({ body });
        expect(answer.status, code).to.equal(400);
        expect(errorOf(answer).details['issues'].map((issue: { code: string }) => issue.code)).to.include(code);
      }
      expect((await admin.updateBranding({ body: { signInMessage: 'x\n'.repeat(10) } })).status).to.equal(200);
    });

    it('refuse another revision in If-Match', async () => {
      const { body, headers } = await api.anyone.getBranding();
      const stale = await admin.updateBranding({ body: { footer: 'no' }, headers: { 'if-match': '"0"' } });
      expect(errorOf(stale).details).to.include({ reason: 'revision', revision: body.revision });
      const fresh = { 'if-match': headers.get('etag') ?? '' };
      expect((await admin.updateBranding({ body: { footer: 'yes' }, headers: fresh })).status).to.equal(200);
    });

    it('are shown to the sign-in page, and their revision to every caller of the server', async () => {
      await api.deps.db('server_state').update({ setup_completed_at: new Date() });
      const { revision } = (await admin.updateBranding({ body: { signInMessage: 'Welcome' } })).body;
      expect((await api.anyone.getSignInOptions()).body.message).to.equal('Welcome');
      expect((await api.anyone.getServerInfo()).body.branding.revision).to.equal(revision);
    });

    it('are read at most 300 times a minute from one address', async () => {
      await api.deps
        .db('settings')
        .insert({ key: 'network.trustedProxies', value: '["127.0.0.1/32"]', updated_at: new Date() });
      await api.deps.settings.reload();
      const send = (address: string) => api.anyone.getBranding({ headers: { 'x-forwarded-for': address } });
      const all = await Promise.all(Array.from({ length: 300 }, () => send('192.0.2.7')));
      expect(all.every(({ status }) => status === 200)).to.equal(true);
      expect((await send('192.0.2.7')).status).to.equal(429);
      expect((await send('192.0.2.8')).status).to.equal(200);
    });
  });

  describe('logos', () => {
    before(() => start());

    it('are the built-in one, in pixels, until one is set', async () => {
      const answer = await api.anyone.getBrandingLogo({ ...place('main', 'dark'), query: { size: 64, format: 'png' } });
      expect(answer.headers.get('content-type')).to.equal('image/png');
      expect(await factsOf(answer.body as unknown as Buffer)).to.include({ format: 'png', width: 64, height: 64 });
      for (const [name, value] of [
        ['access-control-allow-origin', '*'],
        ['x-content-type-options', 'nosniff'],
        ['content-security-policy', "default-src 'none'"],
        ['cache-control', 'public, no-cache'],
      ] as const)
        expect(answer.headers.get(name), name).to.equal(value);
      expect(answer.headers.get('access-control-allow-credentials')).to.equal(null);
      expect((await api.anyone.getBrandingLogo(place('other', 'dark'))).status).to.equal(404);
      expect((await api.anyone.getBrandingLogo(place('main', 'blue'))).status).to.equal(404);
      expect((await api.anyone.getBrandingLogo({ ...place('main', 'dark'), query: { size: 17 } })).status).to.equal(
        400,
      );
    });

    it('are set for one scheme and serve the other too until that is set; the same bytes change nothing', async () => {
      const earlier = (await changes()).length;
      const red = await png(300, 200, '#ff0000');
      const made = await put('main', 'dark', red, { query: { alt: 'Red house' } });
      expect(made.status, JSON.stringify(made.body)).to.equal(200);
      const { dark, light } = made.body.logos.main;
      expect(dark).to.include({ own: true, width: 300, height: 200, alt: 'Red house' });
      expect(dark.from).to.equal(undefined);
      expect(light).to.include({ own: true, from: 'dark' });
      expect(made.body.logos.loading.dark.own).to.equal(false);
      expect((await changes()).slice(earlier)).to.deep.equal([['branding.logos', 'branding.alt']]);
      const again = await put('main', 'dark', red);
      expect(again.body.revision).to.equal(made.body.revision);
      expect(await changes()).to.have.length(earlier + 1);
      await put('main', 'light', await png(300, 200, '#0000ff'));
      const both = (await api.anyone.getBranding()).body.logos.main;
      expect(both.light.from).to.equal(undefined);
      const shown = async (scheme: string) =>
        (await api.anyone.getBrandingLogo({ ...place('main', scheme), query: { format: 'png' } }))
          .body as unknown as Buffer;
      expect(await pixel(await shown('dark'), 10, 10)).to.equal('#ff0000ff');
      expect(await pixel(await shown('light'), 10, 10)).to.equal('#0000ffff');
    });

    it('are kept for a year under their version, revalidate by ETag without it, and go by Accept', async () => {
      const { image: ref } = (await api.anyone.getBranding()).body.logos.main.dark;
      const send = (query: Record<string, string | number | boolean>, headers: Record<string, string> = {}) =>
        api.anyone.getBrandingLogo({ ...place('main', 'dark'), query, headers });
      const kept = await send({ v: ref.version, size: 32 });
      expect(kept.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect((await send({ v: 'older', size: 32 })).headers.get('cache-control')).to.equal('public, no-cache');
      const etag = kept.headers.get('etag') ?? '';
      const same = await send({ size: 32 }, { 'if-none-match': `W/"x", ${etag}` });
      expect(same.status).to.equal(304);
      expect(same.headers.get('access-control-allow-origin')).to.equal('*');
      expect((await send({ size: 48 }, { 'if-none-match': etag })).status).to.equal(200);
      const typeFor = async (accept: string) => (await send({}, { accept })).headers.get('content-type');
      expect(await typeFor('image/avif,image/webp,*/*')).to.equal('image/webp');
      expect(await typeFor('image/avif')).to.equal('image/avif');
      expect(await typeFor('image/png')).to.equal('image/png');
      expect((await send({})).headers.get('vary')).to.contain('Accept');
      const head = await api.fetch('/api/v1/branding/main/dark?size=32', { method: 'HEAD' });
      expect([head.status, Number(head.headers.get('content-length')) > 0, (await head.text()).length]).to.deep.equal([
        200,
        true,
        0,
      ]);
    });

    it('are padded to a square with the background, under another version', async () => {
      const before = (await api.anyone.getBranding()).body.logos.main.dark.image.version;
      const after = (await admin.updateBranding({ body: { background: '#00ff00' } })).body.logos.main.dark.image
        .version;
      expect(after).to.not.equal(before);
      const query = { square: true, size: 96, format: 'png' };
      const square = (await api.anyone.getBrandingLogo({ ...place('main', 'dark'), query })).body as unknown as Buffer;
      expect(await factsOf(square)).to.include({ width: 96, height: 96 });
      expect(await pixel(square, 48, 2)).to.equal('#00ff00ff');
      expect(await pixel(square, 48, 48)).to.equal('#ff0000ff');
    });

    it('move while loading, within 5 s, 60 frames and 2 MiB; main keeps the first frame', async () => {
      const moving = await gif(6);
      const loading = await put('loading', 'dark', moving, { headers: { 'content-type': 'image/gif' } });
      expect(loading.body.logos.loading.dark.animated).to.equal(true);
      const bytes = (await api.anyone.getBrandingLogo(place('loading', 'dark'))).body as unknown as Buffer;
      expect((await factsOf(bytes)).pages).to.equal(6);
      expect((await put('main', 'light', await gif(70, 10, 32))).body.logos.main.light.animated).to.equal(false);
      const long = await put('loading', 'dark', await gif(61, 10, 32));
      expect(errorOf(long).details.issues[0]?.code).to.equal('animation_too_long');
    });

    it('are pictures of these kinds alone, drawn when they are drawings', async () => {
      const drawing = Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><script>x</script><rect width="10" height="10" fill="#123456"/></svg>',
      );
      const svg = await put('loading', 'light', drawing, { headers: { 'content-type': 'image/svg+xml' } });
      expect(svg.body.logos.loading.light).to.include({ width: 1024, height: 1024 });
      const served = await api.anyone.getBrandingLogo(place('loading', 'light'));
      expect(served.headers.get('content-type')).to.equal('image/webp');
      const issue = async (bytes: Buffer) => errorOf(await put('main', 'dark', bytes)).details.issues[0]?.code;
      expect(await issue(await png(15, 15))).to.equal('image_too_small');
      expect(await issue(await png(4097, 16))).to.equal('image_too_large');
      expect(await issue(Buffer.from('no picture at all, and long enough'))).to.equal('not_an_image');
      const pdf = await put('main', 'dark', Buffer.from('%PDF-1.7 is something else'));
      expect([pdf.status, errorOf(pdf).code]).to.deep.equal([415, 'MEDIA_UNSUPPORTED_CODEC']);
      const large = await put('main', 'dark', Buffer.alloc((5 << 20) + 1));
      expect([large.status, errorOf(large).details.maxBytes]).to.deep.equal([413, 5 << 20]);
      expect((await put('other', 'dark', await png())).status).to.equal(404);
      const rows = await api.deps.db('branding_logos').where({ kind: 'main', scheme: 'dark' }).whereNull('replaced_at');
      expect(rows).to.have.length(1);
    });

    it('fall back when they are removed, again and again', async () => {
      const earlier = (await changes()).length;
      expect((await admin.deleteBrandingLogo(place('main', 'dark'))).status).to.equal(204);
      expect((await api.anyone.getBranding()).body.logos.main.dark).to.include({ own: true, from: 'light' });
      expect((await admin.deleteBrandingLogo(place('main', 'dark'))).status).to.equal(204);
      expect(await changes()).to.have.length(earlier + 1);
      await admin.deleteBrandingLogo(place('main', 'light'));
      expect((await api.anyone.getBranding()).body.logos.main.dark.own).to.equal(false);
      expect((await admin.deleteBrandingLogo(place('main', 'none'))).status).to.equal(404);
    });

    it('that were replaced stay 30 days for the same upload again, then go with their bytes', async () => {
      const { db, objects } = api.deps;
      const stored = async () => (await Array.fromAsync(objects.list('foyer-artwork', 'branding/'))).length;
      await put('main', 'dark', await png(90, 90, '#111111'));
      await put('main', 'dark', await png(90, 90, '#222222'));
      const before = await stored();
      await forgetReplacedLogos(db, objects);
      expect(await stored()).to.equal(before);
      const old = db.raw(`now() - interval '31 days'`);
      await db('branding_logos').whereNotNull('replaced_at').update({ replaced_at: old });
      await forgetReplacedLogos(db, objects);
      const rows = await db('branding_logos').select('original', 'made');
      expect(await db('branding_logos').whereNotNull('replaced_at')).to.have.length(0);
      expect(await stored()).to.equal(
        new Set(rows.flatMap((row: { original: string; made: string }) => [row.original, row.made])).size,
      );
      const shown = await api.anyone.getBrandingLogo({ ...place('main', 'dark'), query: { format: 'png' } });
      expect(await pixel(shown.body as unknown as Buffer, 9, 9)).to.equal('#222222ff');
    });
  });

  describe('with stores unavailable', () => {
    before(() => start());

    it('serves the copy without the object store, and the built-in one to a replica that never had it', async () => {
      await put('main', 'dark', await png(90, 90, '#00ffff'));
      const folder = new URL(api.config.objectsUrl).pathname;
      await rm(folder, { recursive: true });
      const shown = await api.anyone.getBrandingLogo({ ...place('main', 'dark'), query: { size: 32, format: 'png' } });
      expect(await pixel(shown.body as unknown as Buffer, 9, 9)).to.equal('#00ffffff');
      const other = await startApi({
        FOYER_DATABASE_URL: api.config.databaseUrl,
        FOYER_OBJECTS_URL: api.config.objectsUrl,
      });
      const there = await other.anyone.getBrandingLogo(place('main', 'dark'));
      expect([there.status, there.headers.get('cache-control')]).to.deep.equal([200, 'no-store']);
      expect(there.headers.get('content-type')).to.equal('image/webp');
      expect((await other.anyone.getBranding()).body.logos.main.dark.own).to.equal(true);
    });

    it('reports that the object store is unavailable when a logo cannot be kept', async () => {
      const { objects } = api.deps;
      const real = objects.put.bind(objects);
      objects.put = () => Promise.reject(new Error('away'));
      const answer = await put('main', 'dark', await png(91, 91));
      objects.put = real;
      expect(answer.status).to.equal(503);
      expect(errorOf(answer).details.waitingFor).to.equal('objects');
    });

    it('answers from memory without Postgres', async () => {
      await api.anyone.getBranding();
      await api.deps.db.destroy();
      const answer = await api.anyone.getBranding();
      expect(answer.status).to.equal(200);
      expect(answer.body.logos.main.dark.own).to.equal(true);
      expect((await api.anyone.getBrandingLogo(place('main', 'dark'))).status).to.equal(200);
    });
  });

  describe('that the MediaServer declares', () => {
    let folder: string;
    const managedBy = { kind: 'MediaServer', namespace: 'home', name: 'foyer', uid: 'u1' };
    before(async () => {
      folder = temporaryFolder('branding');
      mkdirSync(join(folder, '..data'));
      writeFileSync(join(folder, 'showName'), 'false\n');
      writeFileSync(join(folder, 'accent'), '#AABBCC');
      writeFileSync(join(folder, 'footer'), 'x'.repeat(201)); // invalid: left out
      writeFileSync(join(folder, 'links'), '[{"label":"Help","url":"https://example.org/"}]');
      writeFileSync(join(folder, 'logo-main-dark'), await png(80, 40, '#ff00ff'));
      await start({ FOYER_BRANDING_DIR: folder, FOYER_MANAGED_BY: JSON.stringify(managedBy) });
    });

    it('is in force, and changing it is 409 that names the resource', async () => {
      const { body } = await admin.getBranding();
      expect((await api.anyone.getBranding()).body).to.not.have.any.keys('managedBy', 'managedFields');
      expect(body).to.deep.include({ showName: false, accent: '#aabbcc', managedBy });
      expect(body.managedFields).to.have.members(['showName', 'accent', 'links', 'logos.main.dark']);
      expect(body.footer).to.equal(undefined);
      expect(body.logos.main.light).to.include({ own: true, from: 'dark', width: 80 });
      const refused = await admin.updateBranding({ body: { accent: '#000000', footer: 'mine' } });
      expect(refused.status).to.equal(409);
      expect(errorOf(refused).details).to.deep.equal({ reason: 'managed-by-resource', fields: ['accent'], managedBy });
      expect((await api.anyone.getBranding()).body.footer).to.equal(undefined);
      expect((await put('main', 'dark', await png())).status).to.equal(409);
      expect((await admin.deleteBrandingLogo(place('main', 'dark'))).status).to.equal(409);
      expect((await admin.updateBranding({ body: { footer: 'mine' } })).body.footer).to.equal('mine');
      expect((await put('main', 'light', await png(60, 60))).body.logos.main.light.width).to.equal(60);
    });

    it('raises the revision once when it changes, for all replicas', async () => {
      const { revision } = (await api.anyone.getBranding()).body;
      writeFileSync(join(folder, 'accent'), '#112233');
      const other = await startApi({ FOYER_DATABASE_URL: api.config.databaseUrl, FOYER_BRANDING_DIR: folder });
      expect((await other.anyone.getBranding()).body).to.include({ accent: '#112233', revision: revision + 1 });
      const third = await startApi({ FOYER_DATABASE_URL: api.config.databaseUrl, FOYER_BRANDING_DIR: folder });
      expect((await third.anyone.getBranding()).body.revision).to.equal(revision + 1);
    });
  });
});
