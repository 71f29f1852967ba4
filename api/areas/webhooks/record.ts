import { eventFor, payloadFor, readerOf, type WholeReader } from '#areas/events/public.ts';
import { onlyVisibleItems, onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { type EventName, events } from '#platform/events.ts';
import { newId } from '#platform/ids.ts';
import type { Emitted } from '#platform/outbox.ts';
import type { Row } from '#platform/typed-query.ts';
import { type ChatNames, chats, sentenceFor } from './chat.ts';
import { insertDelivery } from './deliveries.store.ts';
import { subscriptionsFor } from './subscriptions.ts';
import type { WebhookFormat } from './webhooks.schemas.ts';

type Subscriber = Pick<Row<'webhooks'>, 'id' | 'format' | 'library_ids' | 'events' | 'owner_id'>;

/** Inserts a delivery for each webhook whose owner may see the event, in the transaction of the event. */
export function recordDeliveries(language: () => string): (db: Db, events: readonly Emitted[]) => Promise<void> {
  return async (db, events) => {
    for (const webhook of await subscribersOf(db, events)) {
      for (const event of events) await record(db, { webhook, event, language: language() });
    }
  };
}

/** Webhooks that subscribe to the event, or to the event that it becomes for an owner who no longer or only now sees the item. */
async function subscribersOf(db: Db, [first]: readonly Emitted[]): Promise<Subscriber[]> {
  const wanted = first ? wantedBy(first) : [];
  if (wanted.length === 0) return [];
  return db('webhooks as w')
    .join('accounts as a', 'a.id', 'w.owner_id')
    .where({ 'w.enabled': true, 'w.owner_lost': false })
    .whereNull('w.switched_off_at')
    .whereRaw('w.events && ?::text[]', [wanted])
    .whereRaw('coalesce(a.expires_at > now(), true)')
    .orderBy('w.id')
    .select('w.id', 'w.format', 'w.library_ids', 'w.owner_id', 'w.events');
}

const wantedBy = ({ event, facts }: Emitted): string[] => {
  const names: EventName[] = facts.before ? ['item.added', 'item.updated', 'item.deleted'] : [event];
  return [...new Set(names.flatMap((name) => subscriptionsFor(name)))];
};

interface Recording {
  webhook: Subscriber;
  event: Emitted;
  language: string;
}

async function record(db: Db, { webhook, event: published, language }: Recording): Promise<void> {
  if (webhook.library_ids && !(await isOfLibraries(db, published, webhook.library_ids))) return;
  const reader = await readerOf(db, webhook.owner_id);
  if (!reader) return;
  const event = eventFor(published, reader);
  if (!subscriptionsFor(event.event).some((name) => webhook.events.includes(name))) return;
  const payload = payloadFor(event, reader);
  if (!payload) return;
  await insertDelivery(db, {
    id: newId(),
    webhookId: webhook.id,
    kind: 'event',
    event: event.event,
    eventId: event.id,
    format: webhook.format,
    thread: threadOf(event),
    body: await bodyOf(db, { event: { ...event, payload }, format: webhook.format, language, reader }),
  });
}

async function isOfLibraries(db: Db, { payload, facts }: Emitted, wanted: readonly string[]): Promise<boolean> {
  const named = payload.libraryId ?? facts.libraryId;
  if (named !== undefined) return wanted.includes(named as string);
  const itemId = payload.itemId ?? facts.itemId;
  if (typeof itemId !== 'string') return false;
  const item = await db('items').where({ id: itemId }).first('library_id');
  return item !== undefined && wanted.includes(item.library_id);
}

/** Thread of progress events of one scan or session, of which only the newest is sent. */
function threadOf({ event, payload }: Emitted): string | undefined {
  const spec = events[event];
  return 'volatile' in spec ? `${event}:${String(payload.scanId ?? payload.sessionId)}` : undefined;
}

interface BodySource {
  event: Emitted;
  format: WebhookFormat;
  language: string;
  reader: WholeReader;
}

/** Bytes of the body: the envelope, or a sentence in the format of the chat service. */
export async function bodyOf(db: Db, { event, format, language, reader }: BodySource): Promise<Buffer> {
  const { id, event: name, at, payload } = event;
  if (format === 'json') return Buffer.from(JSON.stringify({ id, event: name, at: at.toISOString(), payload }));
  const chat = chats[format];
  const names = await namesFor(db, { payload, reader });
  return Buffer.from(chat.body(sentenceFor(event, { names, language, escaped: chat.escaped })));
}

async function namesFor(
  db: Db,
  { payload, reader }: { payload: Emitted['payload']; reader: WholeReader },
): Promise<ChatNames> {
  const { itemId, libraryId, userId = payload.byUserId, storageId, title } = payload;
  const item = itemId ? await itemNamed(db, itemId as string, reader) : undefined;
  const library = libraryId ? await libraryNamed(db, libraryId as string, reader) : undefined;
  const person = userId ? await nameIn(db, { table: 'accounts', column: 'display_name', id: userId }) : undefined;
  const storage = storageId ? await nameIn(db, { table: 'storages', column: 'name', id: storageId }) : undefined;
  return { item: item ?? (typeof title === 'string' ? title : undefined), library, person, storage };
}

async function itemNamed(db: Db, id: string, { who }: WholeReader): Promise<string | undefined> {
  const row = await db('items').where('items.id', id).modify(onlyVisibleItems, who).first('title');
  return row?.title;
}

async function libraryNamed(db: Db, id: string, { who }: WholeReader): Promise<string | undefined> {
  const row = await db('libraries').where('libraries.id', id).modify(onlyVisibleLibraries, who).first('name');
  return row?.name;
}

async function nameIn(
  db: Db,
  { table, column, id }: { table: string; column: string; id: unknown },
): Promise<string | undefined> {
  const row = await db.from(table).where({ id }).first(column);
  return row?.[column];
}
