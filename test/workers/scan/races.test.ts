// Scans of two libraries at once, and a file that moves between them meanwhile.
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { requestScan, type ScanRequest } from '#areas/scanning/public.ts';
import type { Db } from '#platform/db.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { newPlace, type Place } from './support.ts';

/** Scans a library, and does something else once everything is read and nothing is written. */
async function scanAround(place: Place, request: Partial<ScanRequest>, meanwhile: () => Promise<void>): Promise<void> {
  const work = place.work();
  const { libraryId } = place;
  const { id: scanId } = await requestScan(work.db, { libraryId, mode: 'full', trigger: 'person', ...request });
  let transactions = 0;
  const db = new Proxy(work.db, {
    get(target, name) {
      if (name !== 'transaction') return Reflect.get(target, name) as unknown;
      return async (take: (db: Db) => Promise<unknown>) => {
        transactions += 1;
        if (transactions === 2) await meanwhile(); // the first one begins the scan
        return target.transaction(take);
      };
    },
  });
  await scanLibrary({ libraryId, scanId }, { ...work, db }, { settleMs: 0 });
  expect(transactions).to.be.at.least(2);
}

describe('a scan whose file another library takes meanwhile', function () {
  this.timeout(60_000);

  const requests: [name: string, request: Partial<ScanRequest>][] = [
    ['groups it again', {}],
    ['reads it again', { mode: 'deep' }],
  ];
  for (const [name, request] of requests)
    it(`leaves it there when it ${name}`, async () => {
      const [old, next] = [await newPlace('movies'), await newPlace('movies')];
      const { db } = old.api.deps;
      await old.put('Heat (1995)/Heat (1995) - 480p.mkv');
      await old.put('Up (2009)/Up (2009).mkv', 'tiny.mp4');
      await old.scan();
      const heat = (await old.items()).find(({ title }) => title === 'Heat');
      const [file] = await old.files();
      await old.put('Heat (1995)/Heat (1995) - 1080p.mkv', 'h264-base.mkv');
      await scanAround(old, request, async () => {
        await mkdir(join(next.path, 'Heat (1995)'));
        const part = 'Heat (1995)/Heat (1995) - 480p.mkv';
        await rename(join(old.path, part), join(next.path, part));
        await next.scan();
      });
      const row = await db('media_files as f')
        .join('items as i', 'i.id', 'f.item_id')
        .where('f.id', file?.id ?? '')
        .first('f.library_id', 'f.folder_id', 'f.path', { item: 'i.id', holder: 'i.library_id' });
      expect(row).to.deep.equal({
        ...{ library_id: next.libraryId, folder_id: next.folderId, item: heat?.id, holder: next.libraryId },
        path: `${next.path.slice(next.api.mediaRoot.length + 1)}/Heat (1995)/Heat (1995) - 480p.mkv`,
      });
      await old.scan();
      expect(
        (await old.items()).map(({ title, availability, file_count }) => [title, availability, file_count]),
      ).to.deep.equal([
        ['Heat', null, 1],
        ['Up', null, 1],
      ]);
      expect((await next.items()).map(({ id }) => id)).to.deep.equal([heat?.id]);
    });

  it('does not mark it as absent', async () => {
    const [old, next] = [await newPlace('movies'), await newPlace('movies')];
    await old.put('Heat (1995)/Heat (1995).mkv');
    await old.put('Up (2009)/Up (2009).mkv', 'tiny.mp4');
    await old.scan();
    await rename(join(old.path, 'Heat (1995)/Heat (1995).mkv'), join(next.path, 'Heat (1995).mkv'));
    await scanAround(old, {}, async () => void (await next.scan()));
    const rows = await old.api.deps.db('media_files').where({ library_id: next.libraryId }).select('absent_scan');
    expect(rows).to.deep.equal([{ absent_scan: null }]);
  });
});
