import { execFile } from 'node:child_process';
import { mkdirSync, utimesSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import sharp, { type Sharp } from 'sharp';
import { phash } from '#platform/phash.ts';
import { announceSettings, saveSettings } from '#platform/settings.ts';
import { eventually } from '#support/stores.ts';
import { makeFingerprints } from '#workers/fingerprint/fingerprint.ts';
import { soundDistance } from '#workers/fingerprint/sound.ts';
import { bandsOf } from '../../api/areas/libraries/fingerprints/fingerprints.store.ts';
import { type AnalysedPlace, newAnalysedPlace } from './analysis/support.ts';

const run = promisify(execFile);
const OLD = new Date(Date.now() - 3_600_000);

async function fingerprint(place: AnalysedPlace, body: object = {}): Promise<void> {
  const { libraryId: id } = place;
  expect((await place.admin.makeFingerprints({ params: { id }, body })).status).to.equal(200);
  await makeFingerprints({ libraryId: id }, place.work());
}

const duplicates = async (place: AnalysedPlace, query = {}) =>
  (await place.admin.listDuplicates({ params: { id: place.libraryId }, query })).body;

/** Kind, distance and titles with their suggestions. */
const groupsIn = ({ items }: Awaited<ReturnType<typeof duplicates>>) =>
  items.map(({ kind, distance, members }) => ({
    ...{ kind, distance: distance > 0 ? 'some' : 0 },
    members: members.map(({ item, suggestion }) => `${item.title} ${suggestion}`),
  }));

describe('library.fingerprint', function () {
  this.timeout(120_000);

  it('finds equal bytes, reads them only for that, and leaves versions of one film alone', async () => {
    const place = await newAnalysedPlace('movies');
    await place.film('Heat (1995)/Heat (1995).mkv', ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:duration=12']);
    const original = join(place.path, 'Heat (1995)/Heat (1995).mkv');
    mkdirSync(join(place.path, 'Copy (1996)'));
    await cp(original, join(place.path, 'Copy (1996)/Copy (1996).mkv'));
    await cp(original, join(place.path, 'Heat (1995)/Heat (1995) - copy.mkv'));
    for (const name of ['Copy (1996)/Copy (1996).mkv', 'Heat (1995)/Heat (1995) - copy.mkv'])
      utimesSync(join(place.path, name), OLD, OLD);
    await place.film('Ran (1985)/Ran (1985).mkv', ['-f', 'lavfi', '-i', 'mandelbrot=size=320x180', '-t', '12']);
    await place.scan();
    const empty = await duplicates(place);
    expect(empty.items).to.deep.equal([]);
    expect(empty.fingerprints).to.include({ state: 'idle', pairsReady: false });
    await fingerprint(place, { kinds: ['content'] });
    const found = await duplicates(place);
    expect(found.items).to.have.length(1);
    expect(found.items[0]).to.include({ kind: 'exact', distance: 0 });
    expect(new Set(found.items[0]?.members.map(({ item }) => item.title))).to.deep.equal(new Set(['Heat', 'Copy']));
    expect(found.fingerprints.kinds.find(({ kind }) => kind === 'content')).to.include({
      total: 4,
      done: 4,
      failed: 0,
    });
    const { db } = place.api.deps;
    const hashed = await db('fingerprints').whereNotNull('content').count<{ count: number }[]>('* as count');
    expect(hashed).to.deep.equal([{ count: 3 }]);
  });

  it('finds films that look alike, in another size and codec, and not others', async () => {
    const place = await newAnalysedPlace('videos');
    const scenes = (seed: number) => [
      ...['-f', 'lavfi', '-i', `gradients=size=320x180:rate=10:seed=${seed}:nb_colors=4:speed=0.05`],
      ...['-t', '20'],
    ];
    await place.film('first.mkv', [...scenes(7), '-c:v', 'libx264', '-crf', '18']);
    await run('ffmpeg', [
      ...['-v', 'error', '-i', join(place.path, 'first.mkv'), '-vf', 'scale=160:90', '-c:v', 'mpeg4', '-q:v', '8'],
      join(place.path, 'second.mp4'),
    ]);
    utimesSync(join(place.path, 'second.mp4'), OLD, OLD);
    await place.film('other.mkv', scenes(99));
    await place.scan();
    await fingerprint(place, { kinds: ['video'] });
    const found = groupsIn(await duplicates(place, { distance: 8 }));
    expect(found.map(({ kind, members }) => ({ kind, members }))).to.deep.equal([
      { kind: 'near', members: ['first keep', 'second remove'] },
    ]);
    expect((await duplicates(place, { kind: 'exact' })).items).to.deep.equal([]);
  });

  it('finds photos that look alike, and shows no one a hidden member', async () => {
    const place = await newAnalysedPlace('photos');
    const noise = await sharp({
      create: {
        width: 12,
        height: 8,
        channels: 3,
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
        background: '#000',
      },
    })
      .png()
      .toBuffer();
    const picture = await sharp(noise).resize(1200, 800, { kernel: 'cubic' }).jpeg({ quality: 95 }).toBuffer();
    const write = async (name: string, bytes: Sharp): Promise<void> => {
      const target = join(place.path, name);
      await bytes.toFile(target);
      utimesSync(target, OLD, OLD);
    };
    await write('large.jpg', sharp(picture));
    await write('small.jpg', sharp(picture).resize(300, 200).jpeg({ quality: 60 }));
    await write('other.jpg', sharp(picture).negate().flop());
    await place.scan();
    await fingerprint(place, { kinds: ['image'] });
    const found = await duplicates(place);
    expect(found.items).to.have.length(1);
    expect(found.items[0]?.members.map(({ item }) => item.title).sort()).to.deep.equal(['large', 'small']);
    const { db } = place.api.deps;
    const [member] = found.items[0]?.members ?? [];
    await db('items')
      .where({ id: member?.item.id ?? '' })
      .update({ trashed_at: new Date() });
    expect((await duplicates(place)).items).to.deep.equal([]);
  });

  it('finds recordings that sound alike, also when one begins later', async () => {
    const place = await newAnalysedPlace('music');
    const tones = (seed: number) =>
      `aevalsrc='0.4*sin(2*PI*t*220*pow(2\\,floor(mod(${seed}*floor(t*3+1)*7919\\,29))/12))':s=44100:d=40`;
    const tags = (title: string) => [
      '-metadata',
      `title=${title}`,
      '-metadata',
      'artist=A',
      '-metadata',
      `album=${title}`,
    ];
    await place.film('A/one.flac', ['-f', 'lavfi', '-i', tones(3), ...tags('One')]);
    await place.film('A/two.mp3', [
      ...['-f', 'lavfi', '-i', `${tones(3)}`, '-af', 'adelay=700', '-b:a', '96k', ...tags('Two')],
    ]);
    await place.film('A/three.mp3', ['-f', 'lavfi', '-i', tones(5), ...tags('Three')]);
    await place.scan();
    await fingerprint(place);
    const { items } = await duplicates(place, { distance: 8 });
    expect(items.map(({ members }) => members.map(({ item }) => item.title).sort())).to.deep.equal([['One', 'Two']]);
  });

  it('waits for the night, unless the setting says now', async () => {
    const place = await newAnalysedPlace('books');
    const { admin, libraryId: id } = place;
    const { db, redis, settings } = place.api.deps;
    expect((await admin.makeFingerprints({ params: { id }, body: {} })).body.state).to.equal('waiting');
    const job = () =>
      db('jobs').where({ library_id: id }).first<{ state: string; run_at: Date | null }>('state', 'run_at');
    expect((await job()).run_at?.toISOString()).to.match(/T01:20:00.000Z$/);
    await db('jobs').where({ library_id: id }).delete();
    await saveSettings(db, { 'analysis.fingerprints': 'now' }, null);
    await announceSettings(redis);
    await eventually(async () => settings.get('analysis.fingerprints') === 'now');
    await admin.makeFingerprints({ params: { id }, body: {} });
    expect(await job()).to.deep.equal({ state: 'waiting', run_at: null });
  });

  it('refuses a kind that the type has not, and reports zeros before the first request', async () => {
    const place = await newAnalysedPlace('books');
    const { admin, libraryId: id } = place;
    expect((await admin.makeFingerprints({ params: { id }, body: { kinds: ['video'] } })).status).to.equal(400);
    const { body } = await admin.getFingerprints({ params: { id } });
    expect(body).to.deep.include({ libraryId: id, state: 'idle', pairsReady: false });
    expect(body.kinds).to.deep.equal([
      { kind: 'content', algorithm: 'sha256', version: 1, total: 0, done: 0, failed: 0 },
    ]);
  });

  it('differs by bits: equal pictures none, and the same sound at a shift few', () => {
    const grey = (f: (x: number, y: number) => number) =>
      Uint8Array.from({ length: 1024 }, (_, i) => f(i % 32, Math.floor(i / 32)));
    const random = (x: number, y: number) => (((x * 374_761 + y * 668_265 + 7) * 1_274_126) >>> 8) % 200;
    const one = phash(grey(random));
    expect(one).to.match(/^[0-9a-f]{16}$/);
    expect(phash(grey((x, y) => random(x, y) + 3))).to.equal(one);
    expect(bandsOf('0001fffe00020003')).to.deep.equal([1, 0x1fffe, 0x20002, 0x30003]);
    const print = Buffer.alloc(400);
    for (let i = 0; i < 100; i += 1) print.writeUInt32LE((i * 2_654_435_761) >>> 0, i * 4);
    expect(soundDistance(print, print)).to.equal(0);
    expect(soundDistance(print, print.subarray(40))).to.equal(0);
    expect(soundDistance(print, Buffer.alloc(400))).to.be.greaterThan(20);
  });
});
