import { z } from 'zod';
import { newId } from '#platform/ids.ts';
import type { Outbound } from '#platform/outbound.ts';
import { MAX_PACK_BYTES, Version } from '#platform/spine/manifest.ts';
import { spineNetworks, spineOutbound } from '#platform/spine/network.ts';
import { type AvailablePack, listPacks, noteCheck, openImport, type PackRow } from '#platform/spine/packs.store.ts';
import { dropOldPieces } from '#platform/spine/source.ts';
import { compareVersions } from '#platform/spine/versions.ts';
import type { Work } from '../work.ts';

const MOST_BYTES = 1 << 20;

/** The list of packs at `spine.url`. Addresses may be relative to it. */
const Listing = z.object({
  packs: z
    .array(
      z.object({
        name: z.string().min(1).max(100),
        version: Version,
        base: Version.optional(),
        sizeBytes: z.int().min(1).max(MAX_PACK_BYTES),
        publishedAt: z.iso.datetime(),
        url: z.string().max(2048),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .max(200),
});

/** Handler of job `spine.check`: with `spine.auto` it looks for a newer pack each day and has it loaded. */
export function createSpineCheck(outbound?: (work: Work) => Outbound) {
  return async (_payload: unknown, work: Work): Promise<object> => {
    const { settings, db, signal } = work;
    const open = await openImport(db);
    await dropOldPieces(work.objects, (open?.payload as { packId?: string } | undefined)?.packId);
    const url = settings.get('spine.url');
    if (!settings.get('spine.auto') || url === null) return { skipped: 'off' };
    if (settings.get('network.offline')) return { skipped: 'offline' };
    const send = outbound?.(work) ?? spineOutbound(work.config);
    const answer = await send(url, { ...spineNetworks(settings), maxBytes: MOST_BYTES, signal });
    if (answer.status !== 200) throw new Error(`the list of packs answers ${answer.status}`);
    const { packs } = Listing.parse(JSON.parse(answer.body.toString('utf8')));
    const offered = packs.map((pack) => ({ ...pack, url: new URL(pack.url, answer.url).href }));
    const available = newestOf(offered as AvailablePack[], await listPacks(db));
    await db.transaction(async (tx) => {
      await noteCheck(tx, available ?? null);
      if (available && !(await openImport(tx))) await queueImport(work, tx, available);
    });
    return { available: available?.version };
  };
}

/** The newest pack that can be loaded; of one version the delta, which is smaller. */
function newestOf(offered: readonly AvailablePack[], loaded: readonly PackRow[]): AvailablePack | undefined {
  const versions = new Map(loaded.map(({ name, version }) => [name, version]));
  return offered
    .filter(({ name, version, base, url }) => {
      const own = versions.get(name);
      const fits = base === undefined || base === own;
      return url.startsWith('https:') && fits && (own === undefined || compareVersions(version, own) > 0);
    })
    .sort((a, b) => compareVersions(b.version, a.version) || a.sizeBytes - b.sizeBytes)[0];
}

async function queueImport(
  work: Work,
  db: Work['db'],
  { url, sizeBytes, sha256, name, version }: AvailablePack,
): Promise<void> {
  const packId = newId();
  await work.enqueue(db, 'spine.import', {
    payload: { packId, sha256, importedBy: null, source: { url, sizeBytes } },
    options: {
      key: 'spine.import',
      cause: 'schedule',
      target: { kind: 'spine-pack', id: packId, title: `${name} ${version}` },
    },
  });
}
