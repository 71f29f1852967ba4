import { updateProfile } from '#areas/accounts/public.ts';
import { invalid } from '#kernel/errors.ts';
import { type Db, existing } from '#platform/db.ts';
import type { Rung } from '#platform/settings.ts';
import { PlaybackPreferences } from './progress.schemas.ts';

const BUILT_IN: PlaybackPreferences = {
  audioLanguages: [],
  preferOriginalAudio: false,
  subtitleLanguages: [],
  subtitleMode: 'foreign-audio',
  hearingImpaired: 'any',
  rememberTracks: true,
  homeQuality: 'original',
  remoteQuality: 'auto',
  maxAudioChannels: 8,
  dynamicRange: 'off',
  skipIntro: 'ask',
  skipRecap: 'ask',
  skipCredits: 'ask',
  skipCommercials: 'ask',
  autoplayNext: true,
  autoplayCountdownSec: 10,
  askStillWatchingAfter: 4,
  rewindOnResumeMs: 3000,
  audiobookRate: 1,
  skipBackMs: 10_000,
  skipForwardMs: 10_000,
  preroll: true,
  subtitleStyle: {
    sizePercent: 100,
    color: '#ffffff',
    background: '#00000000',
    edge: 'outline',
    bottomPercent: 5,
    family: 'body',
    weight: 400,
  },
};

/** The profile's preferences, with the server's defaults. */
export async function readPreferences(
  db: Db,
  profileId: string,
  defaults: Record<string, unknown>,
): Promise<PlaybackPreferences> {
  const row = await db('profiles').where({ id: profileId }).first('preferences');
  const merged = PlaybackPreferences.safeParse({ ...BUILT_IN, ...defaults, ...row?.preferences });
  return merged.success ? merged.data : BUILT_IN;
}

/** Throws 400 with the path of an unknown quality. A stored rung that leaves the ladder later is no limit. */
export function refuseUnknownQuality(change: Record<string, unknown>, ladder: readonly Rung[]): void {
  const known: unknown[] = ['auto', 'original', null, undefined, ...ladder.map((rung) => rung.id)];
  for (const field of ['homeQuality', 'remoteQuality']) {
    if (!known.includes(change[field]))
      throw invalid(['body', field], 'unknown_quality', 'auto, original or a ladder id');
  }
}

/** null removes a preference. */
export async function writePreferences(db: Db, profileId: string, change: Record<string, unknown>): Promise<void> {
  const row = existing(await db('profiles').where({ id: profileId }).forUpdate().first('preferences'));
  const merged = Object.entries({ ...row.preferences, ...change }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  await updateProfile(db, { id: profileId }, { preferences: JSON.stringify(Object.fromEntries(merged)) });
}
