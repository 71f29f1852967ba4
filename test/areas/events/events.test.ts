import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createPositions } from '#areas/events/position.ts';
import { changeState } from '#areas/storage/states.store.ts';
import { newId } from '#platform/ids.ts';
import { emit, emitMany } from '#platform/outbox.ts';
import { type Relay, startRelay } from '#platform/relay.ts';
import { type Api, startApi } from '#support/api.ts';
import { EventReader } from '#support/event-reader.ts';
import type { Person } from '#support/given.ts';
import { eventually } from '#support/stores.ts';
import { trimEvents } from '#workers/upkeep-jobs.ts';
import type { Work } from '#workers/work.ts';

describe('Events', function () {
  this.timeout(120_000);
  let api: Api;
  let relay: Relay;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
  });
  after(() => relay.stop());

  const open = (who: Person, more: { query?: string; lastEventId?: string } = {}) =>
    EventReader.open(`${api.url}/api/v1/events${more.query ?? ''}`, {
      ...who.headers,
      ...(more.lastEventId && { 'last-event-id': more.lastEventId }),
    });
  const keys = async (name: string): Promise<string> => {
    await emit(api.deps.db, 'settings.changed', { payload: { keys: [name] } });
    return name;
  };
  const settled = (reader: EventReader, name: string) =>
    eventually(() => reader.events.some(({ data }) => JSON.stringify(data).includes(name)));
  const library = async (given: object = {}): Promise<string> => {
    const id = newId();
    const row = { id, name: id, name_folded: id, type: 'movies', settings: '{}', position: 1, ...given };
    await api.deps.db('libraries').insert(row);
    return id;
  };

  it('answers at once with retry and a position, uncompressed and unbuffered', async () => {
    const reader = await open(owner);
    expect(reader.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(reader.headers.get('x-accel-buffering')).to.equal('no');
    await eventually(() => reader.text.length > 0);
    expect(reader.text).to.match(/^retry: 3000\nid: [\w-]{22}\n\n/);
    reader.close();
  });

  it('sends the envelope on one line, with its id and name', async () => {
    const reader = await open(owner);
    const name = await keys('weird\nname');
    await eventually(() => reader.events.length === 1);
    const [event] = reader.events;
    expect(event?.event).to.equal('settings.changed');
    expect(event?.data).to.deep.include({ id: event?.id, event: 'settings.changed', payload: { keys: [name] } });
    reader.close();
  });

  it('narrows by exact names, and refuses families, the unknown and the empty', async () => {
    const reader = await open(owner, { query: '?types=settings.changed,settings.changed' });
    await emit(api.deps.db, 'user.created', { payload: { userId: owner.accountId, role: 'owner' } });
    await settled(reader, await keys('narrow'));
    expect(reader.events.map(({ event }) => event)).to.deep.equal(['settings.changed']);
    reader.close();
    for (const types of ['settings.*', '*', '', 'stream.reset', 'nothing'])
      expect((await api.fetch(`/api/v1/events?types=${types}`, { headers: owner.headers })).status, types).to.equal(
        400,
      );
  });

  describe('audience of events', () => {
    it('sends no event of a library to those who cannot see it, and only ids to those who do not manage it', async () => {
      const [shown, hidden] = [await library({ everyone: true }), await library({ everyone: false })];
      const member = await api.given.member();
      const [theirs, ours] = [await open(member), await open(owner)];
      for (const libraryId of [hidden, shown]) {
        const payload = { itemId: newId(), libraryId, type: 'movie', title: 'T', changed: ['title'] };
        await emit(api.deps.db, 'item.added', { payload, facts: { libraryId } });
      }
      await settled(ours, shown);
      await settled(theirs, shown);
      expect(theirs.events.map(({ data }) => Object.keys(data.payload).sort())).to.deep.equal([
        ['itemId', 'libraryId'],
      ]);
      // the event that made the member is visible to the owner only now
      const added = ours.events.filter(({ event }) => event === 'item.added');
      expect(added.map(({ data }) => data.payload.title)).to.deep.equal(['T', 'T']);
      theirs.close();
      ours.close();
    });

    it('hides items above the age, and the counts of a scan, from a child', async () => {
      const libraryId = await library({ everyone: true });
      const reader = await open(await api.given.child(12));
      const item = async (ageYears?: number) => {
        const itemId = newId();
        const facts = { libraryId, ...(ageYears !== undefined && { ageYears }) };
        await emit(api.deps.db, 'item.added', { payload: { itemId, libraryId }, facts });
        return itemId;
      };
      await item(16);
      const fit = await item(6);
      const payload = { libraryId, scanId: newId(), added: 7, updated: 1, missing: 0, durationMs: 5 };
      await emit(api.deps.db, 'library.scan.completed', { payload });
      await settled(reader, payload.scanId);
      expect(reader.events.map(({ data }) => data.payload)).to.deep.equal([
        { itemId: fit, libraryId },
        { libraryId, scanId: payload.scanId, durationMs: 5 },
      ]);
      reader.close();
    });

    it('sends events of a person to that person, the main profile unless private, and managers of sessions', async () => {
      const member = await api.given.member();
      const other = await api.given.member();
      const readers = { member: await open(member), other: await open(other), owner: await open(owner) };
      const payload = {
        sessionId: newId(),
        userId: member.accountId,
        itemId: newId(),
        mediaFileId: newId(),
        positionMs: 0,
      };
      const played = async (profileId: string) => {
        await emit(api.deps.db, 'playback.stopped', { payload, facts: { userIds: [member.accountId], profileId } });
        return profileId;
      };
      const kid = newId();
      await api.deps.db('profiles').insert({ id: kid, account_id: member.accountId, name: 'Kid', private: true });
      await sleep(1500); // the stream reads the permissions of its account again
      await played(kid);
      await played(member.profileId);
      const heard = (reader: EventReader) => reader.events.filter(({ event }) => event === 'playback.stopped').length;
      await eventually(() => heard(readers.owner) === 2);
      await eventually(() => heard(readers.member) === 1);
      expect(heard(readers.other)).to.equal(0);
      for (const reader of Object.values(readers)) reader.close();
    });

    it('sends events of a storage to managers of libraries and to its owner', async () => {
      const [mine, other] = [await api.given.member(), await api.given.member()];
      const row = { id: newId(), name: 'drive', kind: 'mount', state: 'available', state_since: new Date() };
      await api.deps.db('storages').insert({ ...row, root_name: row.id, path: '', owner_id: mine.accountId });
      const readers = await Promise.all([owner, mine, other].map((one) => open(one)));
      await changeState(api.deps.db, { id: row.id, state: 'available' }, { to: 'unavailable', reason: null });
      const name = await keys('server.name');
      for (const reader of readers) await settled(reader, name);
      const heard = readers.map(({ events }) => events.some(({ event }) => event === 'system.storage.unavailable'));
      expect(heard).to.deep.equal([true, true, false]);
      for (const reader of readers) reader.close();
    });

    it('goes by the scopes of a key', async () => {
      const key = await api.given.key(owner, ['library:view']);
      const libraryId = await library({ everyone: true }); // before: open streams hear of new rights within a second
      const reader = await open(key);
      await keys('not-for-the-key');
      await emit(api.deps.db, 'item.added', {
        payload: { itemId: newId(), libraryId, title: 'T' },
        facts: { libraryId },
      });
      await settled(reader, libraryId);
      expect(JSON.stringify(reader.events)).to.not.include('not-for-the-key').and.not.include('"T"');
      reader.close();
    });

    it('sends a key without library:view no event of libraries, items or playback, not even of its own person', async () => {
      const key = await api.given.key(owner, ['session:manage', 'settings:manage']);
      const libraryId = await library({ everyone: true });
      const itemId = newId();
      const reader = await open(key);
      const payload = { sessionId: newId(), userId: owner.accountId, itemId, mediaFileId: newId(), positionMs: 0 };
      const facts = { userIds: [owner.accountId] };
      await emit(api.deps.db, 'playback.stopped', { payload, facts });
      const granted = { libraryId, userId: owner.accountId, byUserId: owner.accountId };
      await emit(api.deps.db, 'library.access.granted', { payload: granted, facts: { ...facts, libraryId } });
      await emit(api.deps.db, 'item.added', { payload: { itemId, libraryId }, facts: { libraryId } });
      const last = await keys('after-them');
      await settled(reader, last);
      expect(reader.events.map(({ event }) => event)).to.deep.equal(['settings.changed']);
      reader.close();
    });
  });

  describe('replay', () => {
    it('continues behind the last event without gap or double, by id and by position, on another replica', async () => {
      const first = await open(owner);
      for (const name of ['r1', 'r2', 'r3']) await keys(name);
      await settled(first, 'r3');
      first.close();
      const from = first.events.find(({ data }) => JSON.stringify(data).includes('r1'))?.id ?? '';
      for (const name of ['r4', 'r5']) await keys(name);
      const other = await startApi({
        FOYER_DATABASE_URL: api.deps.config.databaseUrl,
        FOYER_REDIS_URL: api.deps.config.redisUrl,
        FOYER_KEYS_FILE: api.deps.config.keysFile,
        FOYER_OPERATOR_KEY_SHA256: api.deps.config.operatorKeySha256 ?? '',
      });
      const second = await EventReader.open(`${other.url}/api/v1/events?lastEventId=nonsense`, {
        ...owner.headers,
        'last-event-id': from,
      });
      await settled(second, 'r5');
      await keys('r6');
      await settled(second, 'r6');
      const changes = second.events.filter(({ event }) => event !== 'stream.reset'); // the owner's rights are new
      expect(changes.map(({ data }) => (data.payload.keys as string[])[0])).to.deep.equal([
        'r2',
        'r3',
        'r4',
        'r5',
        'r6',
      ]);
      expect(new Set(changes.map(({ id }) => id)).size).to.equal(5);
      second.close();
    });

    describe('with frequent progress events', () => {
      const progress = { userId: newId(), itemId: newId(), mediaFileId: newId() };
      const plays = (sessionId: string, count: number) =>
        emitMany(
          api.deps.db,
          'playback.progress',
          Array.from({ length: count }, (_, at) => ({
            payload: { ...progress, sessionId, positionMs: at },
            facts: { userIds: [progress.userId] },
          })),
        );
      const replica = () =>
        startApi({
          FOYER_DATABASE_URL: api.deps.config.databaseUrl,
          FOYER_REDIS_URL: api.deps.config.redisUrl,
          FOYER_KEYS_FILE: api.deps.config.keysFile,
          FOYER_OPERATOR_KEY_SHA256: api.deps.config.operatorKeySha256 ?? '',
        });
      const received = (reader: EventReader) =>
        reader.events
          .filter(({ data }) => data.payload.reason !== 'access')
          .map(({ event, data }) => data.payload.keys ?? event);

      it('continues behind progress that newer progress replaced', async () => {
        const sessionId = newId();
        const first = await open(owner);
        await plays(sessionId, 1);
        await eventually(() => first.events.some(({ data }) => data.payload.sessionId === sessionId));
        const lastEventId = first.events.find(({ data }) => data.payload.sessionId === sessionId)?.id ?? '';
        first.close();
        await keys('behind-progress');
        await plays(sessionId, 3);
        const live = await open(owner);
        await settled(live, await keys('after-progress'));
        live.close();
        const back = await open(owner, { lastEventId });
        await settled(back, 'after-progress');
        expect(received(back)).to.deep.equal([['behind-progress'], 'playback.progress', ['after-progress']]);
        back.close();
      });

      it('keeps a thousand events besides progress, however much of it there was, also after a trim and on a new replica', async () => {
        const reader = await open(owner);
        const sessionId = newId();
        await plays(sessionId, 1);
        await settled(reader, await keys('long-ago'));
        const lastEventId = reader.events.find(({ data }) => data.payload.sessionId === sessionId)?.id ?? '';
        await plays(sessionId, 3000);
        await settled(reader, await keys('just-now'));
        reader.close();
        await trimEvents({}, { db: api.deps.db } as unknown as Work);
        const back = await EventReader.open(`${(await replica()).url}/api/v1/events`, {
          ...owner.headers,
          'last-event-id': lastEventId,
        });
        await settled(back, 'just-now');
        expect(received(back)).to.deep.equal([['long-ago'], 'playback.progress', ['just-now']]);
        back.close();
        const all = await open(owner);
        for (let made = 0; made < 1100; made += 100)
          await emitMany(
            api.deps.db,
            'settings.changed',
            Array.from({ length: 100 }, (_, at) => ({ payload: { keys: [`filler.${made + at}`] } })),
          );
        await settled(all, 'filler.1099');
        all.close();
        await trimEvents({}, { db: api.deps.db } as unknown as Work);
        const left = await api.deps.db('events').select<{ event: string }[]>('event');
        expect(left.filter(({ event }) => event !== 'playback.progress')).to.have.length(1000);
        const late = await open(owner, { lastEventId });
        await eventually(() => late.events.length > 0);
        expect(late.events[0]?.data.payload).to.include({ missed: true });
        late.close();
      });
    });

    it('sends a reset first for an unknown position, and no error', async () => {
      for (const lastEventId of ['nonsense', newId(), createPositions(api.deps.keys).write(10_000_000)]) {
        const reader = await open(owner, { lastEventId, query: '?types=user.created' });
        await eventually(() => reader.events.length > 0);
        expect(reader.events[0]).to.include({ event: 'stream.reset' });
        expect(reader.events[0]?.data.payload).to.deep.equal({ reason: 'unknown', missed: true });
        reader.close();
      }
    });

    it('removes the items that a reader may no longer see', async () => {
      const libraryId = await library({ everyone: true });
      const member = await api.given.member();
      const before = await open(member);
      await eventually(() => before.position !== undefined);
      const from = before.position ?? '';
      before.close();
      await emit(api.deps.db, 'item.added', { payload: { itemId: newId(), libraryId }, facts: { libraryId } });
      await emit(api.deps.db, 'item.deleted', { payload: { itemId: newId(), libraryId }, facts: { libraryId } });
      await sleep(500);
      const reader = await open(member, { lastEventId: from });
      const received = (of: EventReader) =>
        of.events.map(({ event }) => event).filter((event) => event !== 'stream.reset');
      await eventually(() => received(reader).length > 0);
      expect(received(reader)).to.deep.equal(['item.deleted']);
      await api.deps.db('libraries').where({ id: libraryId }).update({ everyone: false });
      await eventually(() => reader.events.at(-1)?.event === 'stream.reset');
      const blind = await open(member, { lastEventId: from });
      await sleep(300);
      expect(received(blind)).to.deep.equal([]);
      reader.close();
      blind.close();
    });
  });

  describe('permissions that changed while a client was disconnected', () => {
    /** A moment later than an earlier change: changes count a little back, as clocks differ. */
    const LATER_MS = 6000;

    it('are sent first when it reconnects, by id and by position, and not again once it is past them', async () => {
      const [member, other] = [await api.given.member(), await api.given.member()];
      const libraryId = await library({ everyone: true });
      await sleep(LATER_MS);
      const first = await open(member);
      await emit(api.deps.db, 'item.added', { payload: { itemId: newId(), libraryId }, facts: { libraryId } });
      await eventually(() => first.events.length === 1);
      const [byId, byPosition] = [first.events[0]?.id ?? '', /id: ([\w-]{22})\n/.exec(first.text)?.[1] ?? ''];
      first.close();
      const quiet = await open(member, { lastEventId: byId });
      await eventually(() => quiet.position !== undefined);
      await settled(await open(owner), await keys('quiet'));
      expect(quiet.events).to.deep.equal([]);
      quiet.close();
      await api.deps.db('accounts').where({ id: member.accountId }).update({ age_limit: 6, hide_unrated: false });
      for (const lastEventId of [byId, byPosition]) {
        const back = await open(member, { lastEventId });
        await eventually(() => back.events.length > 0);
        expect(back.events[0]?.data.payload).to.deep.equal({ reason: 'access', missed: false });
        back.close();
      }
      const else1 = await open(other, { lastEventId: byId });
      await eventually(() => else1.position !== undefined);
      await settled(await open(owner), await keys('else'));
      expect(else1.events).to.deep.equal([]);
      else1.close();
    });
  });

  describe('ends', () => {
    it('within a second of the session, the key or the account', async () => {
      const { db } = api.deps;
      const [ended, disabled] = [await api.given.member(), await api.given.member()];
      const key = await api.given.key(owner, ['library:view']);
      const readers = [await open(ended), await open(disabled), await open(key)];
      await sleep(300);
      await api.as(ended).endSession({ params: { id: ended.sessionId } });
      await db('accounts').where({ id: disabled.accountId }).update({ disabled: true });
      await db('api_keys').where({ account_id: owner.accountId }).update({ revoked_at: new Date() });
      await eventually(() => readers.every(({ closed }) => closed), 3000);
    });

    it('of the oldest of a session when a fifth opens', async () => {
      const member = await api.given.member();
      const readers: EventReader[] = [];
      for (let i = 0; i < 5; i += 1) readers.push(await open(member));
      await eventually(() => readers[0]?.closed === true);
      expect(readers.slice(1).every(({ closed }) => !closed)).to.equal(true);
      for (const reader of readers) reader.close();
    });

    it('of all but four when many are opened at once', async () => {
      const member = await api.given.member();
      const readers = await Promise.all(Array.from({ length: 8 }, () => open(member)));
      await eventually(() => readers.filter(({ closed }) => closed).length === 4);
      await settled(await open(owner), await keys('all-but-four'));
      expect(readers.filter(({ closed }) => closed)).to.have.length(4);
      for (const reader of readers) reader.close();
    });

    it('refuses the fifty-first of an account, from however many sign-ins', async () => {
      const member = await api.given.member();
      const signIns = await Promise.all(Array.from({ length: 13 }, () => api.given.again(member)));
      const readers: EventReader[] = [];
      for (const at of Array.from({ length: 50 }).keys()) readers.push(await open(signIns[at >> 2] ?? member));
      const last = await api.fetch('/api/v1/events', { headers: member.headers });
      expect(last.status).to.equal(429);
      readers[0]?.close();
      await eventually(async () => {
        const again = await api.fetch('/api/v1/events', { headers: signIns[12]?.headers ?? {} });
        await again.body?.cancel();
        return again.status === 200;
      });
      for (const reader of readers) reader.close();
    });

    it('refuses more than twenty openings a minute', async () => {
      const member = await api.given.member();
      for (let i = 0; i < 20; i += 1) (await open(member)).close();
      expect((await api.fetch('/api/v1/events', { headers: member.headers })).status).to.equal(429);
    });

    it('of a reader that does not read, while others continue', async () => {
      const { port } = new URL(api.url);
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      const headers = Object.entries(owner.headers).map(([name, value]) => `${name}: ${value}`);
      socket.write(`GET /api/v1/events HTTP/1.1\r\nhost: x\r\n${headers.join('\r\n')}\r\n\r\n`);
      await sleep(500);
      socket.pause();
      const well = await open(owner);
      const big = Array.from({ length: 100 }, (_, i) => `${'x'.repeat(100)}${i}`); // 10 KB an event
      let closed = false;
      socket.on('close', () => {
        closed = true;
      });
      socket.on('error', () => undefined);
      const row = () => ({ id: newId(), event: 'settings.changed', payload: JSON.stringify({ keys: big }) });
      for (let sent = 50; sent <= 1200; sent += 50) {
        await api.deps.db('outbox').insert(Array.from({ length: 50 }, row)); // half a megabyte: a reader that reads keeps up
        await eventually(() => well.events.length >= sent);
      }
      expect(well.events).to.have.length(1200);
      socket.resume();
      await eventually(() => closed, 30_000);
      well.close();
    });
  });

  it('continues from the table while Redis is unavailable', async () => {
    const blind = await startApi({
      FOYER_DATABASE_URL: api.deps.config.databaseUrl,
      FOYER_REDIS_URL: api.deps.config.redisUrl,
      FOYER_KEYS_FILE: api.deps.config.keysFile,
      FOYER_OPERATOR_KEY_SHA256: api.deps.config.operatorKeySha256 ?? '',
    });
    const reader = await EventReader.open(`${blind.url}/api/v1/events`, owner.headers);
    await eventually(() => reader.text.length > 0);
    await api.deps.redis.del('foyer:events');
    const rows = await api.deps.db('events').max<{ max: number }[]>('number');
    const row = { number: (rows[0]?.max ?? 0) + 1, id: newId(), event: 'settings.changed', at: new Date() };
    await api.deps.db('events').insert({ ...row, payload: '{"keys":["only-in-the-table"]}', facts: '{}' });
    await settled(reader, 'only-in-the-table');
    reader.close();
  });
});
