import type { Call } from '#kernel/endpoint.ts';
import { SILENT_MS } from '#platform/live/tuners.ts';
import { guideSourcesOf } from '../channels/guide.ts';
import { type PodReport, podReports } from './pods.ts';
import type { Slot, Tuner, TunerState } from './tuners.schemas.ts';
import { type TunerFacts, type TunerRow, tunerFacts } from './tuners.store.ts';

/** Tuners as the API answers them. */
export async function toTuners({ db, deps, now }: Pick<Call, 'db' | 'deps' | 'now'>, rows: readonly TunerRow[]) {
  const ids = rows.map(({ id }) => id);
  const [facts, reports, guides] = await Promise.all([
    tunerFacts(db, ids),
    podReports(deps.redis, ids),
    guideSourcesOf(db, ids),
  ]);
  return rows.map((row): Tuner => {
    const own = facts.get(row.id) ?? { id: row.id, channels: 0, streams: [], scan: null, queued: false };
    const guideSourceId = guides.get(row.id);
    return {
      ...toTuner(row),
      ...stateOf(row, { facts: own, report: reports.get(row.id), now }),
      channels: own.channels,
      ...(own.scan && { scan: own.scan }),
      ...(guideSourceId && { guideSourceId }),
      slots: slotsOf(row, own, reports.get(row.id)),
      ...podOf(reports.get(row.id)),
    };
  });
}

const podOf = (report: PodReport | undefined): Pick<Tuner, 'pod'> => (report?.pod ? { pod: report.pod } : {});

/** Members whose columns are set. */
function given(row: TunerRow): Partial<Tuner> {
  const members = {
    url: row.address,
    deviceId: row.device_id,
    userAgent: row.user_agent,
    include: row.include,
    exclude: row.exclude,
    bufferMinutes: row.buffer_minutes,
    recordingsFolderId: row.recordings_folder_id,
    device: row.device,
    lastScan: row.last_scan,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function toTuner(row: TunerRow): Omit<Tuner, 'state' | 'channels' | 'slots'> {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    ...(row.managed_by && { managedBy: row.managed_by, managedFields: row.managed_fields }),
    libraryId: row.library_id,
    uploaded: row.playlist_object !== null,
    enabled: row.enabled,
    priority: row.priority,
    slotCount: row.slot_count,
    headerNames: row.header_names,
    numbering: row.numbering,
    refreshHours: row.refresh_hours,
    ...given(row),
  };
}

interface Seen {
  facts: TunerFacts;
  report: PodReport | undefined;
  now: Date;
}

/** A scan shows first, then a fault of the last one, then what the pod says. */
function stateOf(row: TunerRow, { facts, report, now }: Seen): { state: TunerState; stateReason?: string } {
  if (!row.enabled) return { state: 'disabled' };
  if (facts.scan) return { state: 'scanning' };
  const reason = row.state_reason === null ? {} : { stateReason: row.state_reason };
  if (row.state === 'failed' || row.state === 'unreachable') return { state: row.state, ...reason };
  return stateOfPod(row, report, now);
}

function stateOfPod(
  { created_at: createdAt }: TunerRow,
  report: PodReport | undefined,
  now: Date,
): { state: TunerState; stateReason?: string } {
  if (report) return report.ready ? { state: 'ready' } : { state: 'unreachable', stateReason: 'pod-not-ready' };
  const isNew = now.getTime() - createdAt.getTime() < SILENT_MS;
  return isNew ? { state: 'starting' } : { state: 'unreachable', stateReason: 'pod-silent' };
}

/** Slots hold the streams of rows; the pod adds signal and those that other clients of the device hold. */
function slotsOf(row: TunerRow, { streams }: TunerFacts, report: PodReport | undefined): Slot[] {
  return Array.from({ length: row.slot_count }, (_, index): Slot => {
    const stream = streams.find(({ slot }) => slot === index);
    const seen = report?.slots.find((slot) => slot.index === index);
    return {
      index,
      state: stream ? 'tuned' : seen?.state === 'foreign' ? 'foreign' : 'free',
      ...(stream && { channelId: stream.channel_id }),
      viewers: stream?.viewers ?? 0,
      recordings: stream?.recordings ?? 0,
      ...measuresOf(seen),
    };
  });
}

function measuresOf(
  seen: PodReport['slots'][number] | undefined,
): Pick<Slot, 'signalPercent' | 'qualityPercent' | 'bitrate'> {
  const { signalPercent, qualityPercent, bitrate } = seen ?? {};
  return {
    ...(signalPercent !== undefined && { signalPercent }),
    ...(qualityPercent !== undefined && { qualityPercent }),
    ...(bitrate !== undefined && { bitrate }),
  };
}
