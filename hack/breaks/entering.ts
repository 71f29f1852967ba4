// Sign-in, sign-out, setup, and texts that two tabs edit.
import type { Break } from './break.ts';

const FORM = 'web/src/features/auth/SignInForm.svelte';
const ENTER = 'web/src/features/session/enter.ts';
const TABS_AT_ONCE = 'signs out every tab at once, and leads back to each page after the next sign-in';

export const entering: readonly Break[] = [
  {
    rule: 'a sign-in leads back to the page before it',
    file: FORM,
    text: '    await enter(returnTo);\n  });\n',
    instead: '    await enter();\n  });\n',
    test: 'test/web/sign-in.test.ts',
    title: 'returns to where one was',
  },
  {
    rule: 'a wrong password has its sentence',
    file: FORM,
    text: '<Failure size="line" error={trying.error} />',
    instead: '',
    test: 'test/web/sign-in.test.ts',
    title: 'refuses a wrong password with a sentence',
  },
  {
    rule: 'a sign-in leads to no other site',
    file: 'web/src/core/browser/paths.ts',
    text: ' && !/^\\/[/\\\\]/.test(path)',
    instead: '',
    test: 'test/web/enter.test.ts',
    title: 'never leads to another site after the sign-in',
  },
  {
    rule: 'requests that meet the end of a token refresh it once',
    file: 'web/src/core/api/session.ts',
    text: 'if (current !== sentAt.get(sent)) return current !== ENDED;',
    instead: '',
    test: 'test/web/refresh.test.ts',
    title: 'is met by 20 requests with one refresh',
  },
  {
    rule: 'one tab at a time holds a lease on plain http',
    file: 'web/src/core/api/lock.ts',
    text: 'if (read(home, key)?.id !== id) return false;',
    instead: '',
    test: 'test/web/core/session.test.ts', // pages of one browser meet it too seldom
    title: 'has one holder where writes of one moment reach the other tabs later',
  },
  {
    rule: 'a sign-out is announced to the other tabs',
    file: ENTER,
    text: "sayToTabs({ what: 'signed-out' });\n  forgetFirstScreens();",
    instead: 'forgetFirstScreens();',
    test: 'test/web/enter.test.ts',
    title: TABS_AT_ONCE,
  },
  {
    rule: 'a sign-in leads the other tabs back to their pages',
    file: ENTER,
    text: "else if (location.pathname === '/sign-in') location.assign(whereOthersReturn());",
    instead: '',
    test: 'test/web/enter.test.ts',
    title: TABS_AT_ONCE,
  },
  {
    rule: 'a device goes on by itself once its code is approved',
    file: 'web/src/features/auth/QuickConnect.svelte',
    text: "if (state === 'approved') return enter(returnTo);",
    instead: "if (state === 'approved') return;",
    test: 'test/web/enter.test.ts',
    title: 'signs a device in by its code, which another device approves',
  },
  {
    rule: 'a PIN is typed by keys',
    file: 'web/src/features/auth/PinPad.svelte',
    text: 'if (/^\\d$/.test(event.key)) press(event.key);\n  else if',
    instead: 'if',
    test: 'test/web/enter.test.ts',
    title: 'takes the PIN of a profile by keys alone',
  },
  {
    rule: 'a wrong PIN enters no profile',
    file: 'api/areas/auth/passwords/pins.ts',
    text: 'if (!(await passwordMatches(profile.pin_hash, pin))) throw wrongPin(counted.left);',
    instead: '',
    test: 'test/web/enter.test.ts',
    title: 'takes the PIN of a profile by keys alone',
  },
  {
    rule: 'the claim code leaves the address',
    file: 'web/src/core/browser/fragment.ts',
    text: "if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);",
    instead: '',
    test: 'test/web/setup.test.ts',
    title: 'leads from the printed link to Home, signed in, in three screens',
  },
  {
    rule: 'the setup goes on with the draft of another browser',
    file: 'web/src/features/setup/ServerStep.svelte',
    text: 'draft.serverName ?? setup.serverName',
    instead: 'setup.serverName',
    test: 'test/web/setup.test.ts',
    title: 'continues in another browser',
  },
  {
    rule: 'a refused draft stands next to the one that was saved meanwhile',
    file: 'web/src/features/setup/Setup.svelte',
    text: 'theirs = setup.draft;',
    instead: '',
    test: 'test/web/failures.slow.test.ts',
    title: 'keep the values of two tabs when one saved in between',
  },
  {
    rule: 'a save overwrites no change of another tab',
    file: 'web/src/features/editing/EditDrawer.svelte',
    text: 'return compared(draft, held).conflicts.length > 0 ? undefined : send(confirm, false);',
    instead: 'return send(confirm, false);',
    test: 'test/web/editing.slow.test.ts',
    title: 'offers a choice for each field when another tab changed the same',
  },
];
