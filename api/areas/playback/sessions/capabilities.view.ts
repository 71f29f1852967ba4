import type { z } from 'zod';
import { liveWorkers, transcodeSlots } from '#areas/streaming/public.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { builtInProfiles } from '../decision/profiles.ts';
import type { PlaybackCapabilities } from '../progress/progress.schemas.ts';
import { KEEP_ALIVE_MS } from './start-answer.ts';

type Capabilities = z.input<typeof PlaybackCapabilities>;

/** What the caller may play from the current network; quality menus use it. */
export async function readCapabilities(call: Call): Promise<Capabilities> {
  const { db, who, client, deps } = call;
  const [open] = await db('playback_sessions')
    .where({ account_id: who.accountId })
    .whereNot({ state: 'stopped' })
    .select<{ n: number }[]>(db.raw('count(*) as n'));
  const workers = (await liveWorkers(deps.redis)) ?? [];
  const slots = may(who, 'session:manage') ? await transcodeSlots(db, deps.redis) : undefined;
  return {
    isRemote: !client.local,
    activeStreams: open?.n ?? 0,
    ...accountPart(call),
    ladder: deps.settings.get('playback.ladder'),
    codecs: [{ codec: 'h264', hardware: workers.some(({ gpu }) => gpu) }],
    toneMapping: true,
    burnIn: true,
    builtInProfiles: Object.keys(builtInProfiles),
    keepAliveMs: KEEP_ALIVE_MS,
    watchedPercent: deps.settings.get('playback.watchedPercent'),
    ...(slots && { slots }),
  };
}

type AccountPart = Pick<
  Capabilities,
  'streamCap' | 'transcodeVideo' | 'transcodeAudio' | 'maxBitrateHome' | 'maxBitrateRemote' | 'maxHeight'
>;

function accountPart({ who: { limits } }: Call): AccountPart {
  const encodes = limits.remuxOnly !== true;
  return {
    streamCap: limits.streams ?? null,
    transcodeVideo: limits.videoTranscode !== false && encodes,
    transcodeAudio: limits.audioTranscode !== false && encodes,
    maxBitrateHome: limits.maxBitrateHome ?? null,
    maxBitrateRemote: limits.maxBitrateRemote ?? null,
    maxHeight: limits.maxHeight ?? null,
  };
}
