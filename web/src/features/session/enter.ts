// Entering and leaving: what every way of signing in ends with, and sign-out in all tabs.

import { api, session, whenEnded } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { forgetFirstScreens, mayKeepScreens } from '#core/browser/first-screen.ts';
import { safePath, signInPath } from '#core/browser/paths.ts';
import { onTabMessage, sayToTabs } from '#core/browser/tabs.ts';
import { query, queryClient } from '#core/cache/query.ts';
import * as m from '#messages/session.ts';
import { failureText } from '#ui/failure-text.ts';
import { toast } from '#ui/toasts.svelte.ts';
import { goto } from '$app/navigation';

function emptyCaches(): void {
  queryClient.clear();
  forgetFirstScreens();
}

/** Goes on after a sign-in, back to where the person was; the app's layout first leads to what the server demands of the account. */
export async function enter(returnTo?: string | null): Promise<void> {
  session.began();
  emptyCaches();
  sayToTabs({ what: 'signed-in' });
  await goto(safePath(returnTo), { replaceState: true });
  mayKeepScreens();
}

/** Another viewer of the same account: everything is loaded again, in the other tabs too. */
export async function enterProfile(returnTo?: string | null): Promise<void> {
  session.began();
  emptyCaches();
  sayToTabs({ what: 'profile' });
  await goto(safePath(returnTo), { replaceState: true });
  mayKeepScreens();
}

/** Reads the account again, after a change that decides which page comes next. */
export const reloadMe = (): Promise<unknown> => queryClient.fetchQuery({ ...query('getMe'), staleTime: 0 });

const here = (): string => location.pathname + location.search;
const PUBLIC = /^\/(sign-in|setup|reset|invite|confirm|unsubscribe)/;

/** Empties the caches and shows the sign-in page, unless this page needs no sign-in. */
async function leave(back: boolean): Promise<void> {
  emptyCaches();
  if (PUBLIC.test(location.pathname)) return;
  await goto(back ? signInPath(here()) : '/sign-in', { replaceState: true });
}

/** Shows why when the request did not reach the server: the person is still signed in then. */
export async function signOut(): Promise<void> {
  const ended = await api.logout({ body: {} }).catch((error: unknown) => {
    toast.show({ text: m.signOutFailed({ reason: failureText(problemOf(error)).title }) });
  });
  if (!ended) return;
  const { providerUrl } = ended;
  sayToTabs({ what: 'signed-out' });
  forgetFirstScreens();
  if (providerUrl) location.assign(providerUrl);
  else await leave(false);
}

/** Where a tab returns when another one signed in: nothing plays by itself. */
function whereOthersReturn(): string {
  const path = safePath(new URLSearchParams(location.search).get('return'));
  return path.startsWith('/play/') ? '/' : path;
}

/** Follows the end of the sign-in and changes in other tabs, for the life of the page. */
export function followSession(): () => void {
  const stops = [
    whenEnded(() => {
      sayToTabs({ what: 'signed-out' });
      void leave(true);
    }),
    onTabMessage(({ what }) => {
      if (what === 'signed-out') void leave(true);
      else if (what === 'profile') location.reload();
      else if (location.pathname === '/sign-in') location.assign(whereOthersReturn());
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
