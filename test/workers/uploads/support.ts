// A library of photos into which a member uploads over the API, with the real jobs.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import type { Api, TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { finishUpload } from '#workers/uploads/finish.ts';
import { Postponed } from '#workers/work.ts';
import { newPlace, type Place } from '../scan/support.ts';

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

interface File {
  name: string;
  bytes: Buffer;
  more?: object;
}

export interface Sent {
  id: string;
  state: string;
  itemId?: string;
  errorReason?: string;
}

export interface UploadPlace extends Place {
  member: Person;
  as: TestClient;
  announce(
    files: File[],
    more?: object,
  ): Promise<{ outcome: string; reason?: string; itemId?: string; upload?: { id: string } }[]>;
  chunk(id: string, index: number, sent: Buffer | { bytes: Buffer; hash: string }): Promise<Response>;
  /** Announces and sends one file of one chunk. */
  send(file: File): Promise<string>;
  /** Runs the job until the upload ends or waits for something else than a scan. */
  finish(id: string): Promise<Sent>;
  read(id: string): Promise<Sent>;
  /** Files of the library folder. */
  tree(): Promise<string[]>;
}

export async function newUploadPlace(on?: Api): Promise<UploadPlace> {
  const place = await newPlace('photos', {}, on);
  const { api, libraryId } = place;
  const member = await api.given.member();
  const as = api.as(member);
  const made: UploadPlace = {
    ...place,
    member,
    as,
    async announce(files, more = {}) {
      const drafts = files.map(({ name, bytes, more: own }) => ({ name, sizeBytes: bytes.length, ...own }));
      const { status, body } = await as.createUploads({ body: { libraryId, files: drafts, ...more } } as never);
      expect(status, JSON.stringify(body)).to.equal(200);
      return (body as { items: never[] }).items;
    },
    chunk(id, index, sent) {
      const { bytes, hash } = Buffer.isBuffer(sent) ? { bytes: sent, hash: sha256Of(sent) } : sent;
      return fetch(`${api.url}/api/v1/uploads/${id}/chunks/${index}`, {
        method: 'PUT',
        headers: { ...member.headers, 'content-type': 'application/octet-stream', 'x-chunk-sha256': hash },
        body: new Uint8Array(bytes),
      });
    },
    async send(file) {
      const [answer] = await made.announce([file]);
      const id = answer?.upload?.id ?? '';
      expect((await made.chunk(id, 0, file.bytes)).status).to.equal(200);
      return id;
    },
    async finish(id) {
      for (let round = 0; round < 5; round += 1) {
        try {
          await finishUpload({ uploadId: id }, place.work());
          break;
        } catch (error) {
          if (!(error instanceof Postponed)) throw error;
          const queued = await api.deps.db('scans').where({ library_id: libraryId, state: 'queued' }).first('id');
          if (!queued) break;
          await scanLibrary({ libraryId, scanId: queued.id }, place.work(), { settleMs: 0 });
        }
      }
      return made.read(id);
    },
    async read(id) {
      const { body } = await as.listUploads({ query: { ids: id } } as never);
      return (body as { items: Sent[] }).items[0] as Sent;
    },
    async tree() {
      const entries = await readdir(place.path, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => `${entry.parentPath}/${entry.name}`.slice(place.path.length + 1))
        .sort();
    },
  };
  return made;
}
