// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

const watched = async (world: World): Promise<{ params: { id: string } }> => ({
  params: { id: (await world.watching('member')).playback },
});

const stream = async (world: World): Promise<{ params: { id: string } }> => ({
  params: { id: (await world.watching('member')).stream },
});

const STRANGERS: Caller[] = ['another member', 'parent', 'child', 'guest'];

const OWN_SESSIONS = all('404', 'owner', 'admin', ...STRANGERS);

const AT_START = all('at 0 ms', 'profile of the member', 'owner', 'admin', ...STRANGERS);

export const rows: Row[] = [
  {
    op: 'getItemProgress',
    says: 'rows belong to one profile and are keyed (profileId, itemId); nobody else reads them here, with any permission.',
    request: async (world) => {
      const params = { id: world.film };
      await world.request('member', 'setItemProgress', { params, body: { positionMs: 60_000 } });
      return { params };
    },
    answers: { ...all('at 60000 ms', 'member', "the member's key"), ...AT_START },
    read: ({ positionMs }: { positionMs: number }) => `at ${positionMs} ms`,
  },
  ...[{ scope: 'all' }, { userId: true }].map(
    (wanted): Row => ({
      op: 'listPlaybackSessions',
      says: '`all` and `userId` of another account need `session:manage` (403)',
      when: Object.keys(wanted).join(),
      request: (world) =>
        ({ query: 'scope' in wanted ? wanted : { userId: world.people.member.accountId } }) as {
          query: Record<string, string>;
        },
      answers: {
        ...all('ok', 'owner', 'admin'),
        ...all('403 session:manage', 'another member', 'parent', 'child', 'guest'),
        ...all('userId' in wanted ? 'ok' : '403 session:manage', 'member', 'profile of the member'),
      },
    }),
  ),
  {
    op: 'getPlaybackSession',
    says: "Own sessions, or anyone's with `session:manage`; else 404.",
    request: watched,
    answers: {
      ...all('ok', 'member', 'late member', 'profile of the member', 'owner', 'admin'),
      ...all('404', ...STRANGERS),
    },
  },
  {
    op: 'changePlayback',
    says: 'Own sessions only. 409 `session-stopped`',
    request: async (world) => ({ ...(await watched(world)), body: {} }),
    answers: { member: 'ok', ...OWN_SESSIONS },
  },
  {
    op: 'reportPlayback',
    says: 'Own sessions only, at most 5 a second (429).',
    request: async (world) => ({ ...(await watched(world)), body: { positionMs: 1000, state: 'playing' } }),
    answers: { member: 'ok', ...OWN_SESSIONS },
  },
  {
    op: 'endPlaybackSession',
    says: "Ends one's own, or with `session:manage` anyone's",
    request: watched,
    answers: { ...all('ok', 'member', 'owner', 'admin'), ...all('404', ...STRANGERS) },
  },
  {
    op: 'getTranscodeSession',
    says: "Own, or anyone's with `session:manage`. Stopped sessions are read for one hour, then 404.",
    request: stream,
    answers: { ...all('ok', 'member', 'owner', 'admin'), ...all('404', ...STRANGERS) },
  },
  {
    op: 'stopTranscodeSession',
    says: "Own, or anyone's with `session:manage`. Idempotent",
    request: stream,
    answers: { ...all('ok', 'member', 'owner', 'admin'), ...all('404', ...STRANGERS) },
  },
  ...(['getStreamMaster', 'getStreamPlaylist', 'getStreamSegment'] as const).map(
    (op): Row => ({
      op,
      says: "Every stream path needs the session's own account or a cast ticket for it.",
      request: async (world) => ({
        params: {
          ...(await stream(world)).params,
          ...(op !== 'getStreamMaster' && { rendition: 'v0' }),
          ...(op === 'getStreamSegment' && { segment: '0.m4s' }),
        },
      }),
      answers: { ...(op !== 'getStreamSegment' && { member: 'ok' }), ...OWN_SESSIONS },
    }),
  ),
];
