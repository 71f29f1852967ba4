import { limitsItems } from '#identity/visibility.ts';
import { type Audience, type EventFacts, events } from '#platform/events.ts';
import { isPublicKey } from '#platform/settings.ts';
import type { Published } from './feed.ts';
import type { Reader, VisibilityClass } from './reader.ts';

type Payload = Record<string, unknown>;
/** Payload for the readers of a class; undefined when they do not get the event. */
type Judge = (event: Published, to: VisibilityClass) => Payload | undefined;

const SCAN_IDS = ['libraryId', 'scanId', 'code', 'durationMs'];
const ITEM_IDS = ['itemId', 'libraryId'];

const only = (payload: Payload, names: readonly string[]): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => names.includes(name)));

const seesLibrary = (to: VisibilityClass, id: unknown): boolean =>
  to.may.has('library:view') && to.libraries.has(String(id));

/** Whether counts would reveal hidden items to the class. */
const limited = (to: VisibilityClass): boolean => limitsItems(to.sees);

const library: Judge = ({ payload }, to) => {
  if (!seesLibrary(to, payload.libraryId)) return undefined;
  return limited(to) ? only(payload, SCAN_IDS) : payload;
};

/** Whether the class sees the item, by age and labels. */
function seesByFacts({ ageYears, labels = [] }: EventFacts, { sees }: VisibilityClass): boolean {
  const unrated = ageYears === undefined || ageYears === null;
  if (unrated ? sees.hideUnrated : ageYears > (sees.ageLimit ?? ageYears)) return false;
  const carries = (numbers: readonly number[]): boolean => numbers.some((number) => labels.includes(number));
  if (!sees.labels) return true;
  return !carries(sees.labels.hidden) && (!sees.labels.only || carries(sees.labels.only));
}

/** The event for this class: an item that becomes hidden is deleted for it, one that becomes visible is added. */
export function asVisibleTo<E extends Pick<Published, 'event' | 'facts'>>(event: E, to: VisibilityClass): E {
  const { before, ...facts } = event.facts;
  if (!before) return event;
  const now = seesByFacts(facts, to);
  const then = seesByFacts({ ...facts, ...before }, to);
  if (now === then) return event;
  // a deletion carries the facts from before, by which the class saw the item
  return now
    ? { ...event, event: 'item.added', facts }
    : { ...event, event: 'item.deleted', facts: { ...facts, ...before } };
}

const item: Judge = ({ payload, facts }, to) => {
  if (!seesLibrary(to, payload.libraryId)) return undefined;
  if (!seesByFacts(facts, to)) return undefined;
  return to.may.has('library:manage') ? payload : only(payload, ITEM_IDS);
};

const withPermission =
  (...wanted: Parameters<VisibilityClass['may']['has']>[0][]): Judge =>
  ({ payload }, to) =>
    wanted.some((permission) => to.may.has(permission)) ? payload : undefined;

/** All changed keys for readers with `settings:manage`, the public ones for others. */
const settings: Judge = ({ event, payload }, to) => {
  if (to.may.has('settings:manage')) return payload;
  if (event !== 'settings.changed' || !Array.isArray(payload.keys)) return undefined;
  const keys = payload.keys.filter((key) => isPublicKey(String(key)));
  return keys.length > 0 ? { keys } : undefined;
};

const room: Judge = ({ event, payload }, to) =>
  event !== 'watch.chat' && to.may.has('session:manage') ? payload : undefined;

const JUDGES: Record<Audience, Judge> = {
  library,
  item,
  room,
  person: withPermission('session:manage'),
  accounts: withPermission('user:manage', 'session:manage'),
  profile: () => undefined,
  device: () => undefined,
  managers: withPermission('library:manage'),
  settings,
  support: withPermission('settings:manage'),
};

/** An API key without `library:view` gets no events about libraries, items, playback and rooms. */
const mayView = (event: string, may: ReadonlySet<string>): boolean =>
  may.has('library:view') || !/^(library|item|playback|state|watch)\./.test(event);

/** Payload of an event for a whole class. */
export const forClass: Judge = (event, to) =>
  mayView(event.event, to.may) ? JUDGES[events[event.event].audience](event, to) : undefined;

/** Payload of an event about this reader, in addition to those of its class. */
export function forPerson(event: Published, reader: Reader): Payload | undefined {
  const { audience } = events[event.event];
  if (audience === 'profile') return isOwnState(event, reader) ? event.payload : undefined;
  if (audience === 'device') return isDevice(event, reader) ? event.payload : undefined;
  if (OF_CLASSES.includes(audience) || !mayHear(event, reader)) return undefined;
  return isAbout(event, reader) ? event.payload : undefined;
}

const OF_CLASSES: readonly Audience[] = ['library', 'item', 'settings'];

/** Whether the scopes of the key, and the chat restriction of the account, permit the event. */
const mayHear = ({ event }: Published, { who, class: { roomChat } }: Reader): boolean =>
  mayView(event, who.permissions) && (roomChat || event !== 'watch.chat');

/** Whether the event is about the profile of the reader, or, for the main profile, about another one that is not private. */
function isAbout({ payload, facts }: Published, { who, privateProfiles }: Reader): boolean {
  const people = facts.userIds ?? [payload.userId ?? payload.byUserId];
  if (!people.includes(who.accountId)) return false;
  const { profileId } = facts;
  if (profileId === undefined || profileId === who.profileId) return true;
  return who.mainProfile && !privateProfiles.includes(profileId);
}

/** The own state of a profile is sent to that profile alone. */
const isOwnState = ({ payload, event }: Published, { who }: Reader): boolean =>
  payload.profileId === who.profileId && mayView(event, who.permissions);

const isDevice = ({ payload, facts }: Published, { who }: Reader): boolean =>
  who.deviceId !== undefined && payload.deviceId === who.deviceId && (facts.userIds?.includes(who.accountId) ?? true);
