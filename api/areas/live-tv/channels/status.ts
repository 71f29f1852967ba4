import type { z } from 'zod';
import { listVisibleLibraries } from '#areas/items/public.ts';
import { opens } from '#identity/licence.ts';
import { plusOf } from '#identity/plus.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { rowsOf } from '#platform/rows.ts';
import { OPEN_STATES } from '../recordings/recordings.store.ts';
import { freeBytes, usedBytes } from '../recordings/target.ts';
import { visibleRecordings } from '../recordings/visible.ts';
import { podReports } from '../tuners/pods.ts';
import type { LiveStatus } from './channels.schemas.ts';
import { visibleChannels } from './channels.view.ts';
import { guideCoverage } from './guide.ts';

type Status = z.input<typeof LiveStatus>;

/** What the caller sees of live television. */
export async function liveStatus(call: Call): Promise<Status> {
  const { who, deps, now } = call;
  const isClosed = who.restrictions['liveTv'] === 'deny';
  const libraries = isClosed ? [] : await librariesOf(call);
  const seesTuners = !isClosed && (may(who, 'library:manage') || may(who, 'download:own'));
  const counts = await channelCounts(call, isClosed);
  return {
    available: libraries.length > 0,
    libraryIds: libraries,
    channels: counts.channels,
    ...(seesTuners && { tuners: await tunerCounts(call, libraries) }),
    guide: {
      ...(await guideCoverage(call.db)),
      channelsWithGuide: counts.withGuide,
      refreshing: await refreshes(call),
    },
    dvr: await dvrOf(call, { libraries, isClosed, seesTuners }),
    bufferMinutes: deps.settings.get('live.bufferMinutes'),
    can: rightsOf(call, libraries.length > 0),
    serverTime: now.toISOString(),
    timeZone: deps.settings.get('server.timeZone'),
  };
}

async function librariesOf({ db, who }: Call): Promise<string[]> {
  const rows = await listVisibleLibraries(db, who);
  return rows.filter(({ type }) => type === 'livetv').map(({ id }) => id);
}

interface Counted {
  enabled: number;
  total: number;
  radio: number;
  guided: number;
}

async function channelCounts({ db, who }: Call, isClosed: boolean) {
  const seen = visibleChannels(db, who, { disabled: may(who, 'library:manage') });
  if (!may(who, 'library:manage')) seen.where('c.drm', false);
  const [row]: Counted[] = isClosed
    ? []
    : await db.from(seen.clearSelect().select('c.enabled', 'c.kind', 'c.guide_source_id').as('x')).select(
        db.raw(`count(*) filter (where x.enabled)::int as enabled, count(*)::int as total,
          count(*) filter (where x.kind = 'radio')::int as radio, count(x.guide_source_id)::int as guided`),
      );
  const { enabled = 0, total = 0, radio = 0, guided = 0 } = row ?? {};
  return { channels: { enabled, total, radio }, withGuide: guided };
}

async function tunerCounts({ db, deps }: Call, libraries: readonly string[]): Promise<NonNullable<Status['tuners']>> {
  const rows = await rowsOf<{ id: string; slots: number; used: number; enabled: boolean }>(
    db,
    `select t.id, t.enabled, t.slot_count as slots,
       (select count(*)::int from live_streams s where s.tuner_id = t.id and s.ended_at is null) as used
     from live_tuners t where t.library_id = any(?::uuid[])`,
    [[...libraries]],
  );
  const on = rows.filter(({ enabled }) => enabled);
  const reports = await podReports(
    deps.redis,
    on.map(({ id }) => id),
  );
  const sum = (member: 'slots' | 'used'): number => on.reduce((all, row) => all + row[member], 0);
  return {
    total: rows.length,
    ready: [...reports.values()].filter(({ ready }) => ready).length,
    slots: sum('slots'),
    slotsInUse: sum('used'),
  };
}

async function refreshes({ db }: Call): Promise<boolean> {
  return (await db('jobs').where({ kind: 'live.guide', state: 'active' }).first('id')) !== undefined;
}

async function dvrOf(
  call: Call,
  { libraries, isClosed, seesTuners }: { libraries: readonly string[]; isClosed: boolean; seesTuners: boolean },
): Promise<Status['dvr']> {
  return {
    open: libraries.length > 0 && opens(await plusOf(call.deps).current(), 'dvr'),
    ...(isClosed ? { recordingNow: 0, scheduled: 0, conflicts: 0 } : await recordingCounts(call)),
    ...(seesTuners && (await bytesOf(call, libraries))),
  };
}

async function recordingCounts({
  db,
  who,
}: Call): Promise<Pick<Status['dvr'], 'recordingNow' | 'scheduled' | 'conflicts'>> {
  const open = visibleRecordings(db, who).whereIn('r.state', OPEN_STATES).clearSelect().select('r.state').as('x');
  const [row] = await db.from(open).select(
    db.raw(`count(*) filter (where x.state = 'recording')::int as "recordingNow",
      count(*) filter (where x.state = 'scheduled')::int as scheduled,
      count(*) filter (where x.state = 'conflict')::int as conflicts`),
  );
  return row as Pick<Status['dvr'], 'recordingNow' | 'scheduled' | 'conflicts'>;
}

async function bytesOf(call: Call, libraries: readonly string[]): Promise<Partial<Status['dvr']>> {
  const quotaBytes = call.deps.settings.get('dvr.quotaBytes');
  const free = await freeBytes(call, libraries);
  return {
    usedBytes: await usedBytes(call.db),
    ...(quotaBytes !== null && { quotaBytes }),
    ...(free !== undefined && { freeBytes: free }),
  };
}

function rightsOf({ who }: Call, hasLibrary: boolean): Status['can'] {
  const watch = hasLibrary && who.restrictions['liveTv'] !== 'deny';
  return {
    watch,
    record: watch && who.restrictions['record'] !== 'deny' && may(who, 'download:own'),
    manage: may(who, 'library:manage'),
  };
}
