// Search, Home, the grid, own marks and live updates.
import type { Break } from './break.ts';

const GRID = 'web/src/features/library/Grid.svelte';
const BULK = 'web/src/features/library/bulk.ts';
const EFFECTS = 'web/src/core/events/effects.ts';
const LEADER = 'web/src/core/events/leader.ts';
const BACK = 'goes to a letter by the rail, and Back returns to the film, its place and the filter';
const TWO_SECONDS = 'are on the screen of another device within two seconds';
const CONTINUES = 'continues, hides a card with an undo, and follows another device';
const ONE_STREAM = 'come by one stream for six tabs';

export const finding: readonly Break[] = [
  {
    rule: 'suggestions come from the first letter',
    file: 'web/src/features/search/Search.svelte',
    text: "enabled: open && typed !== ''",
    instead: 'enabled: open && typed.length > 2',
    test: 'test/web/item.slow.test.ts',
    title: 'finds titles from the first letter, by keyboard alone',
  },
  {
    rule: 'the rows of Home are in the order of the profile',
    file: 'web/src/features/home/Home.svelte',
    text: 'const rows = $derived(home.data?.rows ?? []);',
    instead: 'const rows = $derived((home.data?.rows ?? []).toSorted((a, b) => a.title.localeCompare(b.title)));',
    test: 'test/web/home.slow.test.ts',
    title: 'has its rows arranged, and taken back',
  },
  {
    rule: 'a card of Continue shows the time that is left',
    file: 'web/src/features/home/cards.ts',
    text: '(item.runtimeMs ?? 0) - item.userState.positionMs',
    instead: 'item.runtimeMs ?? 0',
    test: 'test/web/item.slow.test.ts',
    title: 'shows on Home what to continue, with the time that is left',
  },
  {
    rule: 'Undo shows a hidden card again',
    file: 'web/src/features/home/mutations.ts',
    text: 'hidden: false',
    instead: 'hidden: true',
    test: 'test/web/home.slow.test.ts',
    title: CONTINUES,
  },
  {
    rule: 'Home follows the marks of another device',
    file: EFFECTS,
    text: '      whole: HOME,\n',
    instead: '',
    test: 'test/web/home.slow.test.ts',
    title: CONTINUES,
  },
  {
    rule: 'Back returns to the place of the grid',
    file: GRID,
    text: '{ index: anchor.index, offset: anchor.offset }',
    instead: '{ index: anchor.index, offset: 0 }',
    test: 'test/web/grid.test.ts',
    title: BACK,
  },
  {
    rule: 'Back returns the focus to the item that was opened',
    file: GRID,
    text: 'if (place?.focus !== undefined) made.focus(place.focus);',
    instead: '',
    test: 'test/web/grid.test.ts',
    title: BACK,
  },
  {
    rule: 'a mark of all that match leaves out the exceptions',
    file: BULK,
    text: 'except: [...selection.except]',
    instead: 'except: []',
    test: 'test/web/grid.test.ts',
    title: 'marks a selection, and all that match but some',
  },
  {
    rule: 'a selection of more than 500 is marked whole',
    file: BULK,
    text: 'Math.ceil(reports.length / MOST)',
    instead: 'Math.floor(reports.length / MOST)',
    test: 'test/web/browse.test.ts',
    title: 'selects by clicks in the middle of cards, and a range by Shift',
  },
  {
    rule: 'a mark that the server refuses is taken back',
    file: 'web/src/features/item/marks.ts',
    text: '    applyPatches(old);\n',
    instead: '',
    test: 'test/web/item.slow.test.ts',
    title: 'takes back a mark that the server refuses, and says why',
  },
  {
    rule: 'a mark of another device is on the screen',
    file: EFFECTS,
    text: '...ITEM, ...LISTS',
    instead: '...LISTS',
    test: 'test/web/tabs.slow.test.ts',
    title: TWO_SECONDS,
  },
  {
    rule: 'events are applied within two seconds',
    file: 'web/src/features/session/live.ts',
    text: 'const GATHER_MS = 400;',
    instead: 'const GATHER_MS = 3000;',
    test: 'test/web/tabs.slow.test.ts',
    title: TWO_SECONDS,
  },
  {
    rule: 'one tab holds the event stream of a browser',
    file: LEADER,
    text: 'await home.locks.hold(LOCK, lead, signal)',
    instead: 'await lead(signal)',
    test: 'test/web/tabs.slow.test.ts',
    title: ONE_STREAM,
  },
  {
    rule: 'the tab with the event stream passes events on',
    file: LEADER,
    text: '      home.channel.post(event);\n',
    instead: '',
    test: 'test/web/tabs.slow.test.ts',
    title: ONE_STREAM,
  },
  {
    rule: 'the next tab with the event stream goes on behind the last event',
    file: LEADER,
    text: '...(lastId && { lastEventId: lastId }), ',
    instead: '',
    test: 'test/web/tabs.slow.test.ts',
    title: ONE_STREAM,
  },
];
