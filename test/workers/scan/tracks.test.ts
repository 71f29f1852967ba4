import { execFile } from 'node:child_process';
import { mkdir, open, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { trackBytes, writeTrack } from '#support/music-files.ts';
import { temporaryFolder } from '#support/stores.ts';
import { readContent, readTogether } from '#workers/probe/content/pool.ts';
import { sampledHash } from '#workers/probe/sampled-hash.ts';
import { readTracks } from '#workers/scan/engine/read-tracks.ts';
import type { Scan } from '#workers/scan/engine/scan.ts';
import type { ScannedFolder } from '#workers/scan/store/context.ts';
import { newPlace } from './support.ts';

const tags = { TALB: 'Album', TPE1: 'Artist', TIT2: 'Title' };

describe('tracks that are read together', function () {
  this.timeout(60_000);

  it('have the hash and tags that each has alone, whatever its size', async () => {
    const folder = temporaryFolder('tracks');
    const bytes = await trackBytes(tags);
    const sizes = [bytes.length, 64 * 1024, 100_000, 8 * 64 * 1024, 700_000, 2_000_000];
    const paths: string[] = [];
    for (const size of sizes) {
      const path = join(folder, `${size}.mp3`);
      const filling = Buffer.from(Array.from({ length: 997 }, (_, n) => n % 251));
      await writeFile(path, Buffer.concat([bytes, Buffer.alloc(size - bytes.length, filling)]));
      paths.push(path);
    }
    const found = await readTogether({ kind: 'track', paths, within: [folder] });
    expect(found.map((track) => track?.real)).to.deep.equal(paths);
    for (const [n, path] of paths.entries()) {
      const alone = await sampledHash(path, sizes[n] ?? 0);
      expect([found[n]?.hash, found[n]?.zeros]).to.deep.equal([alone.hash.toString('hex'), alone.zeros]);
      expect(found[n]?.music).to.deep.equal(await readContent('music', path));
      expect(found[n]?.music.heard?.tags.title).to.equal('Title');
    }
  });

  it('are left out when they lead out of the folders, are empty, no media or absent', async () => {
    const [folder, other] = [temporaryFolder('tracks'), temporaryFolder('tracks')];
    const names = ['good', 'out', 'empty', 'text', 'absent'].map((name) => join(folder, `${name}.mp3`));
    const [good, out, empty, text] = names as [string, string, string, string];
    await writeTrack(good, tags);
    await writeTrack(join(other, 'secret.mp3'), tags);
    await symlink(join(other, 'secret.mp3'), out);
    await writeFile(empty, '');
    await writeFile(text, 'words');
    const found = await readTogether({ kind: 'track', paths: [...names.slice(1), good], within: [folder] });
    expect(found.map((track) => track?.music.heard?.tags.title)).to.deep.equal([
      undefined,
      undefined,
      undefined,
      undefined,
      'Title',
    ]);
  });

  it('are kept from a group that takes too long, after which a scan reads each file alone', async () => {
    const root = temporaryFolder('tracks');
    const paths = Array.from({ length: 20 }, (_, n) => `${n}.mp3`);
    const [, slow = '', ...others] = paths.map((path) => join(root, path));
    for (const path of [join(root, '0.mp3'), ...others]) await writeTrack(path, tags);
    await promisify(execFile)('mkfifo', [slow]); // its open waits for a writer
    const scan = {
      ...{ library: { type: 'music' }, tops: { all: async () => [root] }, together: { isSlow: false } },
      ...{ options: { concurrency: 1 }, signal: new AbortController().signal },
    } as unknown as Scan;
    const read = async () => [...(await readTracks(scan, { root } as ScannedFolder, paths)).keys()];
    const reading = read();
    await sleep(4500);
    await (await open(slow, 'w')).close();
    expect(await reading).to.deep.equal(['0.mp3']);
    expect(await read()).to.deep.equal([]);
  });

  it('are written 500 at a time, also from many small folders', async () => {
    const place = await newPlace('music');
    for (let n = 0; n < 500; n += 1) {
      const [album, track] = [Math.floor(n / 10), (n % 10) + 1];
      await writeTrack(join(place.path, `Artist/Album ${album}/${track}.mp3`), {
        ...{ TALB: `Album ${album}`, TPE1: 'Artist', TIT2: `Song ${n}`, TRCK: String(track) },
      });
    }
    const { db } = place.api.deps;
    const inserts: string[] = [];
    const note = ({ sql }: { sql: string }): void => {
      if (sql.startsWith('insert into items ')) inserts.push(sql);
    };
    db.on('query', note);
    const { counts } = await place.scan();
    db.off('query', note);
    expect(counts).to.include({ added: 500, probed: 500 });
    expect(inserts.length, 'artists, albums and tracks').to.equal(3);
  });

  it('do not take their faults to each other in a library', async () => {
    const [place, other] = [await newPlace('music'), await newPlace('music')];
    await mkdir(join(place.path, 'Artist'), { recursive: true });
    await writeTrack(join(place.path, 'Artist/1.mp3'), { ...tags, TRCK: '1' });
    await writeTrack(join(place.path, 'Artist/5.mp3'), { ...tags, TIT2: 'Last', TRCK: '5' });
    await writeTrack(join(other.path, 'Secret/2.mp3'), { ...tags, TIT2: 'Secret' });
    await symlink(join(other.path, 'Secret/2.mp3'), join(place.path, 'Artist/2.mp3'));
    const old = new Date(Date.now() - 3_600_000);
    for (const [name, bytes] of [
      ['3.mp3', 'words'],
      ['4.mp3', ''],
    ] as const) {
      await writeFile(join(place.path, 'Artist', name), bytes);
      await utimes(join(place.path, 'Artist', name), old, old);
    }
    const scan = await place.scan();
    const titles = (await place.items()).filter(({ type }) => type === 'track').map(({ title }) => title);
    expect(titles.toSorted()).to.deep.equal(['Last', 'Title']);
    const issues = scan.issues.map(({ kind, path }) => `${path.split('/').at(-1)} ${kind}`);
    expect(issues.toSorted()).to.deep.equal(['2.mp3 link-outside', '3.mp3 corrupt', '4.mp3 corrupt']);
  });
});
