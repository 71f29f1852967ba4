// Which answers an event makes old, in one table. Those on screen are requested again, the rest when they are next shown.
import type { EventName, EventPayloads } from '../../../../api/client/index.ts';
import type { Name } from '../api/keys.ts';
import type { StreamEvent } from './leader.ts';

export interface Effect {
  /** Operations whose answers are old. */
  names: readonly Name[];
  /** Only the answers about these items. */
  itemIds?: readonly string[];
  /** Operations whose every answer is old, whichever items it holds. */
  whole?: readonly Name[];
  /** Every answer is old. */
  all?: true;
}

type Effects = { [N in EventName]?: (payload: EventPayloads[N]) => Effect };

const names = (...list: Name[]): Effect => ({ names: list });
const ITEM: readonly Name[] = [
  'getItem',
  'getItemTree',
  'listItemChildren',
  'listItemFiles',
  'listItemPeople',
  'listItemExtras',
  'getItemFields',
  'listItemArtwork',
  'getSubtitleSync',
];
const HOME: readonly Name[] = ['getHome', 'getHomeRow'];
const LISTS: readonly Name[] = ['listItems', 'listLibraryItems', 'getLibraryIndex', 'getLibraryFacets'];
/** Data of a profile in addition to its items. */
const STATE: Readonly<Record<string, readonly Name[]>> = {
  preferences: ['getPlaybackPreferences', 'listThemes', 'getHomeLayout', ...HOME],
};

const scan = (): Effect => names('getLibrary', 'listLibraries');

const EFFECTS: Effects = {
  'library.scan.started': scan,
  'library.scan.progress': () => names('getLibrary'),
  'library.scan.completed': () => names('getLibrary', 'listLibraries', ...LISTS, ...HOME),
  'library.scan.failed': scan,
  'item.added': () => names(...LISTS, ...HOME, 'listLibraries'),
  'item.updated': ({ itemId }) => ({ names: [...ITEM, ...HOME], itemIds: [itemId] }),
  'item.deleted': () => names(...LISTS, ...HOME, 'listLibraries'),
  'playback.stopped': ({ itemId }) => ({
    names: [...ITEM, 'listItems'],
    itemIds: [itemId],
    whole: [...HOME, 'listHistory', 'getStats'],
  }),
  'state.changed': ({ what, itemIds, truncated }) => {
    if (what.every((one) => one in STATE)) return names(...what.flatMap((one) => STATE[one] ?? []));
    return {
      names: [...what.flatMap((one) => STATE[one] ?? []), ...ITEM, ...LISTS],
      whole: HOME,
      ...(!truncated && itemIds.length > 0 && { itemIds }),
    };
  },
  'library.access.granted': () => names('listLibraries', 'getMe', ...LISTS, ...HOME),
  'notification.created': () => names('listNotifications'),
  'settings.changed': ({ keys }) => names(...settings(keys)),
  'system.storage.available': () => names('getLibrary', 'listLibraries', ...ITEM),
  'system.storage.unavailable': () => names('getLibrary', 'listLibraries', ...ITEM),
};

function settings(keys: readonly string[]): Name[] {
  const starts = (prefix: string): boolean => keys.some((key) => key.startsWith(prefix));
  return [
    ...(starts('branding.') || starts('server.') ? (['getBranding', 'getServerInfo'] as const) : []),
    ...(starts('home.') ? (['getHomeLayout', ...HOME] as const) : []),
    ...(starts('themes.') ? (['listThemes'] as const) : []),
    ...(starts('library-types.') ? (['listLibraryTypes', 'getLibraryType'] as const) : []),
    ...(starts('maintenance.') ? (['getMaintenance'] as const) : []),
    ...(starts('icons.') ? (['listIconSets', 'getIconSet', 'listIcons'] as const) : []),
    ...(starts('auth.') ? (['getSignInOptions'] as const) : []),
  ];
}

/** What an event makes old; undefined when no page shows it. */
export function effectOf(event: StreamEvent): Effect | undefined {
  if (event.event === 'stream.reset') return { names: [], all: true };
  const effect = EFFECTS[event.event] as ((payload: unknown) => Effect) | undefined;
  return effect?.(event.payload);
}
