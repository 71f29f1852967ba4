// Libraries, playback, the server's own settings and what else somebody has: whose it is, and what resources declare.
import { all, listed, type Row } from './row.ts';
import type { Caller, World } from './world.ts';

const watched = async (world: World): Promise<{ params: { id: string } }> => ({
  params: { id: (await world.watching('member')).playback },
});
const stream = async (world: World): Promise<{ params: { id: string } }> => ({
  params: { id: (await world.watching('member')).stream },
});
const STRANGERS: Caller[] = ['another member', 'parent', 'child', 'guest'];
const OWN_SESSIONS = all('404', 'owner', 'admin', ...STRANGERS);
const MANAGER = { name: 'x', namespace: 'media', kind: 'Library', uid: 'u' };

export const libraryRows: Row[] = [
  ...(['createLibrary', 'updateLibrary'] as const).map(
    (op): Row => ({
      op,
      says: "Only the operator's own API key may send `managedBy` (403 from others)",
      ask: async (world, caller) => {
        const managedBy = { ...MANAGER, uid: `${op} ${caller}` };
        if (op === 'createLibrary') return { body: { name: `${op} ${caller}`, type: 'movies', managedBy } };
        return { params: { id: await world.library() }, body: { managedBy } };
      },
      answers: { operator: 'ok', ...all('403 operator', 'owner', 'admin', "the admin's key") },
    }),
  ),
  {
    op: 'updateLibrary',
    says: 'a change to them by anybody but the operator is 409 `managed-by-resource`',
    when: 'a declared field',
    ask: async (world, caller) => ({ params: { id: await world.managedLibrary() }, body: { name: `new ${caller}` } }),
    answers: { operator: 'ok', ...all('409 managed-by-resource', 'owner', 'admin', "the admin's key") },
  },
  {
    op: 'updateLibrary',
    says: 'the fields its spec names are in `managedFields` and a change to them by anybody but the operator is 409',
    when: 'a free field',
    ask: async (world) => ({ params: { id: await world.managedLibrary() }, body: { settings: { onHome: false } } }),
    answers: all('ok', 'operator', 'owner', 'admin'),
  },
  ...(['getScan', 'cancelScan'] as const).map(
    (op): Row => ({
      op,
      says: 'Scans of libraries the caller may see',
      ask: async (world) => ({ params: { id: await world.hiddenScan() } }),
      answers: {
        ...all('ok', 'owner', 'admin'),
        ...(op === 'getScan'
          ? all('404', 'member', 'editor', 'child', 'guest')
          : all('403 scan:trigger', 'member', 'child')),
      },
    }),
  ),
  {
    op: 'listScans',
    says: 'Scans of libraries the caller may see, newest first',
    ask: async (world) => ({ headers: { 'x-of': await world.hiddenScan() } }),
    answers: { ...all('told of', 'owner', 'admin'), ...all('not told of', 'member', 'editor', 'child', 'guest') },
    read: listed,
  },
  {
    op: 'getItemFile',
    says: 'path, hashes and probe only with `library:manage` (include=probe without it is 403)',
    ask: async (world) => ({ params: await world.file(), query: { include: 'probe' } }),
    answers: { ...all('ok', 'owner', 'admin'), ...all('403 library:manage', 'member', 'editor', 'child', 'guest') },
  },
  {
    op: 'browseLibraryFolders',
    says: "without `library:manage` it needs the library's `folderView` (403 `FORBIDDEN` with details.setting)",
    ask: (world) => ({ params: { id: world.films.id } }),
    answers: { ...all('ok', 'owner', 'admin'), ...all('403 folderView', 'member', 'editor', 'child', 'guest') },
  },
];

const AT_START = all('at 0 ms', 'profile of the member', 'owner', 'admin', ...STRANGERS);

export const playbackRows: Row[] = [
  {
    op: 'getItemProgress',
    says: 'rows belong to one profile and are keyed (profileId, itemId); nobody else reads them here, with any permission.',
    ask: async (world) => {
      const params = { id: world.film };
      await world.ask('member', 'setItemProgress', { params, body: { positionMs: 60_000 } });
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
      ask: (world) =>
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
    ask: watched,
    answers: {
      ...all('ok', 'member', 'late member', 'profile of the member', 'owner', 'admin'),
      ...all('404', ...STRANGERS),
    },
  },
  {
    op: 'changePlayback',
    says: 'Own sessions only. 409 `session-stopped`',
    ask: async (world) => ({ ...(await watched(world)), body: {} }),
    answers: { member: 'ok', ...OWN_SESSIONS },
  },
  {
    op: 'reportPlayback',
    says: 'Own sessions only, at most 5 a second (429).',
    ask: async (world) => ({ ...(await watched(world)), body: { positionMs: 1000, state: 'playing' } }),
    answers: { member: 'ok', ...OWN_SESSIONS },
  },
  {
    op: 'endPlaybackSession',
    says: "Ends one's own, or with `session:manage` anyone's",
    ask: watched,
    answers: { ...all('ok', 'member', 'owner', 'admin'), ...all('404', ...STRANGERS) },
  },
  {
    op: 'getTranscodeSession',
    says: "Own, or anyone's with `session:manage`. Stopped sessions are read for one hour, then 404.",
    ask: stream,
    answers: { ...all('ok', 'member', 'owner', 'admin'), ...all('404', ...STRANGERS) },
  },
  {
    op: 'stopTranscodeSession',
    says: "Own, or anyone's with `session:manage`. Idempotent",
    ask: stream,
    answers: { ...all('ok', 'member', 'owner', 'admin'), ...all('404', ...STRANGERS) },
  },
  ...(['getStreamMaster', 'getStreamPlaylist', 'getStreamSegment'] as const).map(
    (op): Row => ({
      op,
      says: "Every stream path needs the session's own account or a cast ticket for it.",
      ask: async (world) => ({
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

const OWNER = '403 owner';

const HERE = { namespace: 'media', kind: 'MediaServer', name: 'home', uid: '01900000-0000-7000-8000-00000000beef' };

/** A theme that the resource declares, made by the operator. */
async function declaredTheme(world: World, name: string): Promise<{ params: { id: string } }> {
  const body = { name, schemes: { dark: {} }, managedBy: HERE };
  const { id } = (await world.api.as(world.people.operator).createTheme({ body })).body;
  return { params: { id } };
}

const LOOKERS: Caller[] = ['member', 'editor', 'child', 'guest'];

export const themeRows: Row[] = [
  ...(['updateTheme', 'deleteTheme'] as const).map(
    (op): Row => ({
      op,
      says:
        op === 'updateTheme'
          ? '409 `revision`, `built-in`, `managed-by-resource`'
          : '409 `server-default`, `built-in`.',
      when: 'a declared one',
      ask: async (world, caller) => {
        const asked = await declaredTheme(world, `${op} ${caller}`);
        return op === 'updateTheme' ? { ...asked, body: { author: 'x' } } : asked;
      },
      answers: {
        operator: 'ok',
        ...all('409 managed-by-resource', 'owner', 'admin', "the admin's key"),
        ...all('403 settings:manage', ...LOOKERS),
      },
    }),
  ),
  {
    op: 'setThemeSelection',
    says: "scope server needs `settings:manage` and emits; the profile's own does not.",
    when: 'of the server',
    ask: () => ({ body: { scope: 'server', selection: { mode: 'dark' } } }),
    answers: {
      ...all('ok', 'owner', 'admin', "the admin's key", 'operator'),
      ...all('403 settings:manage', ...LOOKERS),
    },
  },
  {
    op: 'setThemeSelection',
    says: "scope server needs `settings:manage` and emits; the profile's own does not.",
    when: 'of the profile',
    ask: () => ({ body: { selection: { mode: 'light', themeId: 'cinema' } } }),
    answers: all('ok', 'owner', 'admin', "the admin's key", 'operator', ...LOOKERS),
  },
  {
    op: 'listThemes',
    says: 'usedBy(count of profiles, settings:manage only)',
    ask: () => ({}),
    answers: { ...all('counted', 'owner', 'admin'), ...all('not counted', ...LOOKERS) },
    read: ({ items }: { items: { usedBy?: number }[] }) =>
      items.every(({ usedBy }) => usedBy !== undefined) ? 'counted' : 'not counted',
  },
];

export const serverRows: Row[] = [
  ...(['updateSettings', 'setSetting'] as const).map(
    (op): Row => ({
      op,
      says: 'keys marked ownerOnly are written by the owner only, in a confirmed session (Auth). API keys with the scope may write the rest.',
      when: 'a key for the owner',
      ask: () =>
        op === 'setSetting'
          ? { params: { key: 'auth.oidc.name' }, body: { value: null } }
          : { body: { values: { 'auth.oidc.name': null } } },
      answers: { owner: 'ok', 'late owner': '403 confirm', ...all(OWNER, 'admin', "the admin's key", 'operator') },
    }),
  ),
  {
    op: 'updateSettings',
    says: 'API keys with the scope may write the rest.',
    ask: () => ({ body: { values: { 'server.notice': null } } }),
    answers: { ...all('ok', 'owner', 'late owner', 'admin', "the admin's key"), member: '403 settings:manage' },
  },
  {
    op: 'offerServerClaim',
    says: 'The owner only (403 details.by owner), a signed-in person with a confirmed session (Auth), never a key.',
    ask: async (world) => {
      await world.withoutOffer();
      return { body: { userId: world.people['another admin'].accountId } };
    },
    answers: {
      owner: 'ok',
      'late owner': '403 confirm',
      ...all(OWNER, 'admin', 'another admin'),
      "the admin's key": '403 api-key',
    },
  },
  {
    op: 'acceptServerClaim',
    says: 'The account it was offered to, signed in and confirmed; others get 404.',
    ask: async (world) => ({ body: { offerId: await world.offerTo('another admin') } }),
    answers: {
      'another admin': '409 sign-in-too-weak',
      ...all('404', 'owner', 'admin'),
      "the admin's key": '403 api-key',
    },
  },
  {
    op: 'cancelServerClaim',
    says: 'Withdrawn by the owner or declined by the other; 403 for anyone else.',
    ask: async (world) => {
      await world.offerTo('another admin');
      return {};
    },
    answers: { ...all('ok', 'owner', 'another admin'), admin: OWNER },
  },
  {
    op: 'getServerClaim',
    says: 'The offer is shown to the owner and to the account it is made to.',
    ask: async (world) => {
      await world.offerTo('another admin');
      return {};
    },
    answers: { ...all('shown', 'owner', 'another admin'), ...all('not shown', 'admin', 'operator') },
    read: ({ offer }: { offer?: object }) => (offer ? 'shown' : 'not shown'),
  },
  {
    op: 'deleteNotification',
    says: 'Idempotent for own ids, 404 for others.',
    ask: async (world) => ({ params: { id: await world.notification('member') } }),
    answers: {
      ...all('ok', 'member', "the member's key"),
      ...all('404', 'profile of the member', 'owner', 'admin', ...STRANGERS),
    },
  },
  {
    op: 'listNotifications',
    says: "Own ones only, no permission opens another's.",
    ask: async (world) => ({ headers: { 'x-of': await world.notification('member') } }),
    answers: { member: 'told of', ...all('not told of', 'profile of the member', 'owner', 'admin', ...STRANGERS) },
    read: listed,
  },
  {
    op: 'markNotificationsRead',
    says: 'Unknown ids are passed over.',
    ask: async (world) => ({ body: { ids: [await world.notification('member')] } }),
    answers: { member: '1 changed', ...all('0 changed', 'profile of the member', 'owner', 'admin', ...STRANGERS) },
    read: ({ changed }: { changed: number }) => `${changed} changed`,
  },
  {
    op: 'unsubscribePush',
    says: 'Any device of the own account.',
    ask: async (world) => ({ params: { id: await world.pushSubscription('member') } }),
    answers: { ...all('ok', 'member', 'profile of the member'), ...all('404', 'owner', 'admin', ...STRANGERS) },
  },
  {
    op: 'listJobs',
    says: 'With `job:manage` all jobs, and queues. Without it only those the caller started, and no queues',
    ask: async (world) => ({ headers: { 'x-of': await world.job('member') } }),
    answers: {
      ...all('told of, queues', 'owner', 'admin'),
      ...all('told of', 'member'),
      ...all('not told of', ...STRANGERS),
    },
    read: (body: { items: { id: string }[]; queues?: unknown[] }, asked) =>
      `${listed(body, asked)}${body.queues ? ', queues' : ''}`,
  },
  ...(['member', 'admin', 'owner'] as const).map(
    (to): Row => ({
      op: 'listEmailMessages',
      says: 'With rank as in Users, subjects of mails to higher ones are left out.',
      when: `to the ${to}`,
      ask: async (world) => ({ headers: { 'x-of': await world.mail(to) } }),
      answers: {
        owner: 'a subject',
        admin: to === 'owner' ? 'no subject' : 'a subject',
        'another admin': to === 'member' ? 'a subject' : 'no subject',
        ...all('403 settings:manage', 'member', 'child', 'guest'),
      },
      read: ({ items }: { items: { id: string; subject?: string }[] }, { headers }) =>
        items.find(({ id }) => id === headers?.['x-of'])?.subject === undefined ? 'no subject' : 'a subject',
    }),
  ),
];
