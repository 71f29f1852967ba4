import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { extract } from 'tar-stream';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { makeBackup, namesAt } from '#support/backups.ts';
import type { Person } from '#support/given.ts';
import { eventually } from '#support/stores.ts';

describe('downloading a backup', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let me: TestClient;
  let id: string;
  let made: Awaited<ReturnType<typeof makeBackup>>;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    me = api.as(owner);
    const encryption = { mode: 'passphrase', passphrase: 'correct horse battery' };
    await me.updateBackupSettings({ body: { encryption } });
    for (const size of [0, 1, 65_536, 65_537, 300_000])
      await api.deps.objects.put('foyer-artwork', `pictures/${size}`, randomBytes(size));
    made = await makeBackup(api);
    id = made.id;
  });

  const download = (headers: Record<string, string> = {}, by = me) => by.downloadBackup({ params: { id }, headers });
  const whole = async (): Promise<Buffer> => (await download()).body as unknown as Buffer;
  const unpacked = async (tar: Buffer): Promise<Map<string, Buffer>> => {
    const files = new Map<string, Buffer>();
    const reading = Readable.from([tar]).pipe(extract());
    for await (const entry of reading) files.set(entry.header.name, await buffer(entry));
    return files;
  };

  it('gives dump, objects and manifest as they are stored, to be found again at any destination', async () => {
    const { status, headers, body } = await download();
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/x-tar');
    expect(Number(headers.get('content-length'))).to.equal((body as unknown as Buffer).length);
    const files = await unpacked(body as unknown as Buffer);
    expect([...files.keys()].sort()).to.deep.equal(await namesAt(made.destination));
    expect([...files.keys()].at(-1)).to.equal(`backups/${id}/manifest.json`);
    for (const [name, bytes] of files)
      expect(bytes.equals(await buffer(await made.destination.read(name))), name).to.equal(true);
    const other = await startApi();
    const folder = join(new URL(other.config.objectsUrl).pathname, 'foyer-backups');
    for (const [name, bytes] of files) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), bytes);
    }
    const found = await other.as(await other.given.owner()).listBackups({ query: { refresh: true } });
    expect(found.body.items.map((one) => [one.id, one.trigger])).to.deep.equal([[id, 'found']]);
  });

  it('resumes at any byte, and reports when the bytes are others', async () => {
    const all = await whole();
    const starts = [0, 1, 511, 512, 513, 700, all.length - 1025, all.length - 1024, all.length - 1];
    for (const start of starts) {
      const { status, body } = await download({ range: `bytes=${start}-` });
      expect(status).to.equal(206);
      expect((body as unknown as Buffer).equals(all.subarray(start)), `from ${start}`).to.equal(true);
    }
    for (let start = 0; start < all.length; start += Math.floor(all.length / 15)) {
      const end = Math.min(all.length - 1, start + 70_000);
      const { body } = await download({ range: `bytes=${start}-${end}` });
      expect((body as unknown as Buffer).equals(all.subarray(start, end + 1)), `${start}-${end}`).to.equal(true);
    }
    expect((await download({ range: `bytes=${all.length}-` })).status).to.equal(416);
    const changed = await download({ range: 'bytes=5-', 'if-range': '"other"' });
    expect([changed.status, (changed.body as unknown as Buffer).length]).to.deep.equal([200, all.length]);
  });

  it('is the confirmed owner’s, one at a time, and noted', async () => {
    const admin = api.as(await api.given.admin());
    expect((await download({}, admin)).status).to.equal(403);
    const tired = await api.given.again(owner, { confirmed_until: null });
    expect(errorOf(await download({}, api.as(tired))).details.by).to.equal('confirm');
    await api.deps.redis.set('foyer:backup:download', id);
    const second = await download();
    expect([second.status, errorOf(second).details.reason]).to.deep.equal([409, 'download-running']);
    await api.deps.redis.del('foyer:backup:download');
    expect((await download()).status).to.equal(200);
    await eventually(async () => (await api.deps.redis.get('foyer:backup:download')) === null);
    const noted = await api.deps.db('audit_log').where({ action: 'backup.downloaded' });
    expect(noted.length).to.be.greaterThan(0);
  });
});
