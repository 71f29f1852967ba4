// Observed state of a tuner -> its conditions. Pure.
import { Cron } from 'croner';
import { z } from 'zod';
import type { Trouble } from '../media-server/pod-trouble.ts';
import type { Reason, Verdict } from '../schemas/conditions.ts';
import type { TunerDeviceSpec, TunerDeviceStatus } from '../schemas/tuner-device.ts';

const count = z.int().min(0);

/** The status of a tuner's process; unknown members are ignored. */
export const PodStatus = z.object({
  /** Absent until the first request to the device. */
  reachable: z.boolean().optional(),
  message: z.string().max(2000).default(''),
  tuners: z.object({ total: count, inUse: count }).optional(),
  channels: count.optional(),
  programmes: count.optional(),
  /** Absent where it reads no guides, null before the first guide. */
  lastGuideRefresh: z.iso.datetime().nullish(),
  nextRecordingAt: z.iso.datetime().nullish(),
  recording: z.boolean().default(false),
  /** Channels that are watched, and recordings in progress: only the server knows them. */
  live: count.optional(),
  recordings: count.optional(),
});
export type PodStatus = z.output<typeof PodStatus>;

export interface ObservedTuner {
  /** The pod is ready. */
  running: boolean;
  /** The reason, where it is known. */
  trouble: Trouble | undefined;
  /** Undefined while the pod does not respond. */
  pod: PodStatus | undefined;
  /** A change waits for the end of a recording. */
  waiting: boolean;
}

const is = (type: string, reason: Reason, message: string): Verdict => ({ type, status: 'True', reason, message });
const not = (type: string, reason: Reason, message: string): Verdict => ({ type, status: 'False', reason, message });
const unknown = (type: string, reason: Reason, message: string): Verdict => ({
  type,
  status: 'Unknown',
  reason,
  message,
});

export function tunerVerdicts(spec: TunerDeviceSpec, observed: ObservedTuner, now: Date): Verdict[] {
  return [ready(observed), reachable(observed), guideFresh(spec, observed, now)];
}

function ready(observed: ObservedTuner): Verdict {
  const type = 'Ready';
  if (!observed.running && observed.trouble) return not(type, observed.trouble.reason, observed.trouble.message);
  if (!observed.pod) return not(type, 'Starting', 'The tuner does not answer yet');
  const device = reachable(observed);
  if (device.status !== 'True') return { ...device, type };
  if (observed.waiting) return is(type, 'AllReady', 'It is recording: a change waits for the end of the recording');
  return is(type, 'AllReady', 'The device answers');
}

function reachable({ pod }: ObservedTuner): Verdict {
  const type = 'Reachable';
  if (pod?.reachable === undefined) return unknown(type, 'Starting', 'The device has not been queried yet');
  if (pod.reachable) return is(type, 'Connected', 'The device answers');
  return not(type, 'DeviceUnreachable', pod.message || 'The device does not answer: check spec.source and the network');
}

function guideFresh({ guide }: TunerDeviceSpec, { pod }: ObservedTuner, now: Date): Verdict {
  const type = 'GuideFresh';
  if (!guide?.xmltv && !guide?.device) return not(type, 'NoneAsked', 'spec.guide is absent');
  if (!pod) return unknown(type, 'Starting', 'Not known until the tuner answers');
  const last = pod.lastGuideRefresh;
  if (last === undefined) return not(type, 'NotServed', 'The server does not have this guide yet');
  if (last === null) return not(type, 'GuideStale', 'The guide was never read: check spec.guide');
  if (isMissed(guide.refresh, new Date(last), now))
    return not(type, 'GuideStale', `The guide was last read at ${last}: check spec.guide`);
  return is(type, 'GuideRefreshed', `Read at ${last}`);
}

/** A tuner that the server does not have is not ready. */
export function withSynced(
  verdicts: readonly Verdict[],
  synced: { verdict: Verdict; isServed: boolean } | undefined,
): readonly Verdict[] {
  if (!synced) return verdicts;
  const { verdict, isServed } = synced;
  if (isServed) return [...verdicts, verdict];
  return [{ ...verdict, type: 'Ready' }, ...verdicts.filter(({ type }) => type !== 'Ready'), verdict];
}

/** A cron expression of five fields that has a next time. */
export function isSchedule(text: string): boolean {
  try {
    return new Cron(text, { paused: true, mode: '5-part' }).nextRun() !== null;
  } catch {
    return false;
  }
}

/** A whole interval passed without a refresh. */
function isMissed(schedule: string, last: Date, now: Date): boolean {
  const [, second] = new Cron(schedule, { paused: true, timezone: 'UTC' }).nextRuns(2, last);
  return second !== undefined && second < now;
}

/** The current use of its channels. */
export const useOf = ({
  live,
  recordings,
}: Partial<PodStatus> = {}): Pick<TunerDeviceStatus, 'live' | 'recording'> => ({
  ...(live !== undefined && { live }),
  ...(recordings !== undefined && { recording: recordings }),
});

/** The status without conditions and observedGeneration. */
export function tunerStatus(pod: PodStatus | undefined): Omit<TunerDeviceStatus, 'conditions' | 'observedGeneration'> {
  if (!pod) return {};
  const { tuners, channels, programmes, lastGuideRefresh, nextRecordingAt } = pod;
  return {
    ...(tuners && { tuners }),
    ...useOf(pod),
    ...(channels !== undefined && { channels }),
    ...(programmes !== undefined && { programmes }),
    ...(lastGuideRefresh && { lastGuideRefresh }),
    ...(nextRecordingAt && { nextRecordingAt }),
  };
}
