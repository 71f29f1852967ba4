import { text } from 'node:stream/consumers';
import { findPlace, openPlace, requestBackup } from '#areas/backup/public.ts';
import { BUILTIN } from '#areas/backup/settings/places.store.ts';
import { fullVersion } from '#areas/server/public.ts';
import type { Destination } from '#platform/backup/destination.ts';
import { openPart, readManifest } from '#platform/backup/part.ts';
import type { BackupKey } from '#platform/backup/sealing.ts';
import type { BackupManifest } from '#platform/backup-manifest.ts';
import { createBackup } from '#workers/backup/create.ts';
import type { Work } from '#workers/work.ts';
import type { Api } from './api.ts';

export type Made = Awaited<ReturnType<typeof makeBackup>>;

/** The attempt of a job in this process, as a worker would make it. */
export function workOf(api: Api, more: Partial<Work> = {}): Work {
  const nothing = async (): Promise<void> => undefined;
  const { config, db, redis, objects, settings, log } = api.deps;
  const work = { config, db, redis, objects, settings, log, signal: new AbortController().signal, checkpoint: null };
  return {
    ...work,
    jobId: '01900000-0000-7000-8000-0000000000aa',
    keep: nothing,
    report: nothing,
    ...more,
  } as unknown as Work;
}

/** A waiting row, as the API or the schedule creates it. */
export async function enqueueBackup(
  api: Api,
  options: Partial<Parameters<typeof requestBackup>[1]> = {},
): Promise<string> {
  const { id } = await requestBackup({ ...api.deps, version: fullVersion }, { trigger: 'person', ...options });
  return id;
}

/** A whole backup, made in this process. */
export async function makeBackup(api: Api, options: Partial<Parameters<typeof requestBackup>[1]> = {}) {
  const id = await enqueueBackup(api, options);
  await createBackup({ backupId: id }, workOf(api));
  await api.deps.db('jobs').whereRaw(`target ->> 'id' = ?`, [id]).update({ state: 'completed' });
  const row = await api.deps.db('backups').where({ id }).first<{ place_id: string }>('place_id');
  const destination = await placeOf(api, row.place_id);
  return { id, destination, manifest: await readManifest(destination, id) };
}

export async function placeOf(api: Api, id: string = BUILTIN): Promise<Destination> {
  return openPlace(api.deps, await findPlace(api.deps.db, id));
}

/** The text of COPY of one table. */
export async function copyOf(
  { destination, manifest }: { destination: Destination; manifest: BackupManifest },
  name: string,
  key?: BackupKey,
): Promise<string> {
  const parts = manifest.tables.find((table) => table.name === name)?.parts ?? [];
  const texts = [];
  for (const part of parts) texts.push(await text(await openPart(destination, { manifest, part }, key)));
  return texts.join('');
}

export async function namesAt(destination: Destination, prefix = ''): Promise<string[]> {
  const found = await Array.fromAsync(destination.list(prefix));
  return found.map(({ name }) => name).sort();
}
