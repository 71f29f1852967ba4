import { expect } from 'chai';
import { areas } from '#areas/index.ts';
import { notify } from '#areas/notifications/public.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { newId } from '#platform/ids.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, clientFor, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { device, errorOf, signIn, somebody, withToken } from '#support/signing-in.ts';

const all = areas.flatMap((area) => area.endpoints as readonly Endpoint[]);
const CANARY = 'canary-0f3c';

describe('replay of published vulnerabilities: records of other people', () => {
  let api: Api;
  let owner: Person;
  let member: Person;
  let shown: GivenLibrary;
  let hidden: GivenLibrary;
  let secret: { itemId: string; fileId: string };
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    member = await api.given.member();
    shown = await givenLibrary(api.deps.db, 'movies');
    hidden = await givenLibrary(api.deps.db, 'movies', { everyone: false });
    secret = await film(hidden);
  });
  beforeEach(() => api.deps.redis.flushdb());

  const film = async (library: GivenLibrary) => {
    const itemId = await givenItem(api.deps.db, library, { title: `${CANARY} film`, runtime_ms: 3_600_000, top: true });
    const streams = [{ kind: 'video', codec: 'h264', probe: { width: 640, height: 360, frameRate: 24 } }];
    const fileId = await givenFile(api.deps.db, library, itemId, { container: 'mp4', streams });
    return { itemId, fileId };
  };
  /** A status alone where the body is bytes. */
  const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status);

  it('audiobookshelf CVE-2026-42883 and CVE-2026-42884, Kavita CVE-2026-44776: every id of a list is checked, also next to a visible one', async () => {
    const me = api.as(member);
    const { itemId } = await film(shown);
    const at = new Date().toISOString();
    const synced = await me.syncPlayback({
      body: {
        reports: [itemId, secret.itemId, itemId, ABSENT].map((id, n) => ({
          clientEventId: newId(),
          itemId: id,
          at,
          positionMs: 600_000 + n,
        })),
      },
    });
    expect(synced.body.results.map(({ outcome }) => outcome)).to.deep.equal([
      'applied',
      'not-found',
      'applied',
      'not-found',
    ]);
    expect(await api.deps.db('item_states').where({ item_id: secret.itemId })).to.deep.equal([]);
    // By a visible library to an item of a hidden one.
    const refused = await api.as(owner).restoreTrash({ params: { id: shown.id }, body: { itemIds: [secret.itemId] } });
    expect(refused.body.notRestored).to.deep.equal([{ itemId: secret.itemId, reason: 'not-in-trash' }]);
    for (const query of [{ ids: `${itemId},${secret.itemId}` }, { filter: `id:${secret.itemId}` }, { q: CANARY }]) {
      const { status, body } = await me.listItems({ query });
      expect(status === 400 || !JSON.stringify(body).includes(secret.itemId), JSON.stringify(query)).to.equal(true);
    }
    const child = await me.getItemFile({ params: { id: itemId, fileId: secret.fileId } });
    expect(child.status, 'a file of another item').to.equal(404);
  });

  it('Kavita CVE-2026-44776, Jellyfin #5415: bytes, progress and decisions of a hidden item are of no item', async () => {
    const me = api.as(member);
    const { itemId, fileId } = secret;
    const answersFor = async (item: string, file: string) => [
      await me.getItem({ params: { id: item } }),
      await me.listItemFiles({ params: { id: item } }),
      await me.startPlayback({ params: { id: item }, body: { client: { builtIn: 'chromium' } } }),
      await me.setItemProgress({ params: { id: item }, body: { positionMs: 1 } }),
      await me.setItemRating({ params: { id: item }, body: { favorite: true } }),
      await me.streamFile({ params: { fileId: file } }),
      await me.downloadFile({ params: { fileId: file } }),
      await me.getTrickplay({ params: { fileId: file } }),
    ];
    const [theirs, nowhere] = [await answersFor(itemId, fileId), await answersFor(ABSENT, ABSENT)];
    expect(statusesOf(theirs)).to.deep.equal(Array.from({ length: 8 }, () => 404));
    expect(statusesOf(nowhere)).to.deep.equal(statusesOf(theirs));
    const own = await film(shown);
    const params = { id: own.itemId };
    const mixed = async (id: string) => {
      const play = await me.startPlayback({ params, body: { fileId: id, client: { builtIn: 'chromium' } } });
      const note = await me.setItemProgress({ params, body: { positionMs: 1000, fileId: id } });
      return [play, note].map((answer) => [answer.status, errorOf(answer).code, errorOf(answer).details]);
    };
    const mixedAnswers = await mixed(fileId);
    expect(mixedAnswers, 'a hidden file by a visible item').to.deep.equal(await mixed(ABSENT));
    for (const [status] of mixedAnswers) expect(status).to.be.within(400, 415);
  });

  it('Jellyfin GHSA-4vx8-xhc9-qg6x: a playback session of another person does not exist, and its id follows from nothing', async () => {
    const { itemId } = await film(shown);
    const start = async (person: Person) =>
      (await api.as(person).startPlayback({ params: { id: itemId }, body: { client: { builtIn: 'chromium' } } })).body
        .session;
    const [one, two] = [await start(member), await start(member)];
    expect(one.id).to.not.equal(two.id);
    const other = await api.given.member();
    // The same device id as the victim's: it names no person.
    const thief = api.as({ ...other, headers: { ...other.headers, 'x-client-name': 'test' } });
    const tried = async (client: TestClient, id: string) => [
      await client.getPlaybackSession({ params: { id } }),
      await client.reportPlayback({ params: { id }, body: { state: 'paused', positionMs: 5 } }),
      await client.changePlayback({ params: { id }, body: { positionMs: 5 } }),
      await client.endPlaybackSession({ params: { id } }),
    ];
    expect(statusesOf(await tried(thief, two.id))).to.deep.equal(statusesOf(await tried(thief, ABSENT)));
    expect(statusesOf(await tried(thief, two.id)).slice(0, 3)).to.deep.equal([404, 404, 404]);
    expect(JSON.stringify((await thief.listPlaybackSessions()).body)).to.not.include(two.id);
    const still = await api.as(member).getPlaybackSession({ params: { id: two.id } });
    expect([still.status, still.body.state, still.body.positionMs]).to.deep.equal([200, two.state, two.positionMs]);
  });

  it('Navidrome CVE-2024-32963 and GHSA-82gh, Jellyfin GHSA-9x85-gx46-6522: no request sets the owner of a record, or members that the server writes', async () => {
    const victim = await api.given.member();
    const { itemId } = await film(shown);
    const claims: Record<string, unknown> = {
      userId: victim.accountId,
      ownerId: victim.accountId,
      accountId: victim.accountId,
      account_id: victim.accountId,
      profileId: victim.profileId,
      id: ABSENT,
      role: 'owner',
      isAdmin: true,
      createdBy: victim.accountId,
      revision: -1,
      managedBy: null,
      is_system: true,
    };
    const me = api.as(member);
    const calls: Record<string, (more: object) => Promise<{ status: number }>> = {
      progress: (more) => me.setItemProgress({ params: { id: itemId }, body: { positionMs: 1000, ...more } }),
      rating: (more) => me.setItemRating({ params: { id: itemId }, body: { favorite: true, ...more } }),
      watched: (more) => me.markWatched({ params: { id: itemId }, body: more }),
      profile: (more) => me.createProfile({ body: { name: 'Kid', ...more } }),
      preferences: (more) => me.updatePlaybackPreferences({ body: more }),
      library: (more) => api.as(owner).createLibrary({ body: { name: 'L', type: 'movies', ...more } }),
      webhook: (more) =>
        api.as(owner).createWebhook({ body: { name: 'w', url: 'https://example.org', events: ['*'], ...more } }),
      password: (more) => me.changePassword({ body: { newPassword: 'another long one', ...more } }),
    };
    for (const [what, send] of Object.entries(calls)) {
      for (const [name, value] of Object.entries(claims)) {
        const answer = await send({ [name]: value });
        expect(answer.status, `${what} with ${name}`).to.equal(400);
      }
    }
    const key = await me.createApiKey({
      body: { name: 'k', scopes: ['library:view'], expiresAt: null, profileId: victim.profileId },
    });
    expect(key.status, "a key for another's profile").to.be.within(400, 404);
    expect(await api.deps.db('item_states').where({ profile_id: victim.profileId })).to.deep.equal([]);
  });

  it('Plex CVE-2025-34158: no answer holds a token, a hash or a secret', async () => {
    const planted = await somebody(api, 'admin');
    const reset = await api.as(owner).updateSettings({
      body: { values: { 'email.smtp.password': CANARY, 'music.listenBrainzToken': CANARY } },
    });
    expect(reset.status, JSON.stringify(reset.body)).to.equal(200);
    const hook = { name: 'w', url: `https://example.org/${CANARY}`, events: ['*'], secret: `${CANARY}-0123456789` };
    await api.as(owner).createWebhook({ body: { ...hook, format: 'json' } });
    const hashes = (await api.deps.db('accounts').whereNotNull('password_hash').pluck('password_hash')) as string[];
    const wanted = [`${CANARY}-0123456789`, planted.refreshToken, planted.accessToken, ...hashes];
    const people = [
      planted.me,
      api.as(member),
      api.as(await api.given.guest()),
      api.as(await api.given.child()),
      api.anyone,
    ];
    const gets = all.filter((one) => one.method === 'get' && one.operationId !== 'streamEvents');
    for (const who of [...people, api.as(owner)]) {
      for (const endpoint of gets) {
        const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
        const params = Object.fromEntries(
          names.map((name) => [name, name === 'id' && endpoint.path.startsWith('/users') ? planted.id : ABSENT]),
        );
        const answer = await who[endpoint.operationId as keyof TestClient]({ params });
        const text = Buffer.isBuffer(answer.body) ? answer.body.toString('latin1') : JSON.stringify(answer.body);
        for (const word of wanted) expect(text.includes(word), endpoint.operationId).to.equal(false);
        expect(text, endpoint.operationId).to.not.match(/"(?:foyrt_|foyst_|\$argon2|\$scrypt)/);
        if (/settings/i.test(endpoint.operationId)) expect(text, endpoint.operationId).to.not.include(CANARY);
      }
    }
  });

  it('Navidrome GHSA-wp9c-pw66-c6j2: addresses of a film open nothing by themselves, nor after sign-out, expiry or deletion', async () => {
    const { itemId, fileId } = await film(shown);
    const person = await somebody(api);
    const started = (
      await person.me.startPlayback({ params: { id: itemId }, body: { client: { builtIn: 'chromium' } } })
    ).body;
    const [session, url] = [started.session.id, started.session.url];
    const addresses = [
      url,
      `/api/v1/files/${fileId}/stream?session=${session}`,
      `/api/v1/files/${fileId}/stream?ticket=${session}`,
      `/api/v1/files/${fileId}/stream?token=${person.accessToken}`,
      `/api/v1/files/${fileId}/stream?access_token=${person.accessToken}`,
      `/api/v1/files/${fileId}/stream?api_key=${person.accessToken}`,
      `/api/v1/files/${fileId}/trickplay?ticket=${person.accessToken}`,
      `/api/v1/stream/${session}/master.m3u8?ticket=${person.accessToken}`,
    ];
    for (const address of addresses) {
      const answer = await api.fetch(address);
      expect(answer.status, address.slice(0, 80)).to.be.oneOf([400, 401]);
    }
    await person.me.logout({ body: {} });
    for (const address of addresses.slice(0, 2)) {
      const headers = { ...device, authorization: `Bearer ${person.accessToken}` };
      expect((await api.fetch(address, { headers })).status).to.equal(401);
    }
    const again = (await signIn(api, person.username)).body.accessToken;
    await api.deps.db('items').where({ id: itemId }).update({ trashed_at: new Date() });
    expect((await withToken(api, again).streamFile({ params: { fileId } })).status, 'in the trash').to.equal(404);
  });

  it('Jellyfin #1501, #13983, #13987: notifications and devices cannot be read by a known id', async () => {
    const other = await api.given.member();
    const id = newId();
    await api.deps.db.transaction((db) =>
      notify(db, {
        kind: 'playlist-shared',
        to: { accountIds: [other.accountId] },
        target: { kind: 'playlist', id },
        data: { name: CANARY },
      }),
    );
    const [theirs] = (await api.as(other).listNotifications()).body.items;
    const me = api.as(member);
    const before = (await api.as(other).listNotifications()).body.unreadCount;
    await me.markNotificationsRead({ body: { ids: [theirs?.id ?? ''] } });
    await me.deleteNotification({ params: { id: theirs?.id ?? '' } });
    const after = (await api.as(other).listNotifications()).body;
    expect([after.unreadCount, after.items.length]).to.deep.equal([before, before]);
    const devices = await me.listUserDevices({ params: { id: other.accountId } });
    expect(devices.status).to.be.oneOf([403, 404]);
    const nobody = clientFor(api.url, device);
    expect(errorOf(await nobody.listUserDevices({ params: { id: other.accountId } })).code).to.equal('UNAUTHENTICATED');
  });
});
