// Opens a session for an address of the player, and measures the browser before one is opened.
import { api } from '#core/api/client.ts';
import { newId } from '#core/api/ids.ts';
import { beginning, openRequest } from '#core/player/address.ts';
import { openEarly } from '#core/player/early.ts';
import { Outbox } from '#core/player/outbox.ts';
import { browserProbe } from '#core/player/probe.ts';
import { clientProfile } from '#core/player/profile.ts';

/** Measures once for each version of the browser; takes some 100 ms. */
export async function measureBrowser(): Promise<void> {
  await clientProfile(browserProbe(), localStorage);
}

export function openFor({ pathname, search }: URL): void {
  const outbox = new Outbox(localStorage, newId);
  const home = { api, storage: localStorage, probe: browserProbe(), outbox };
  openEarly(home, pathname.slice('/play/'.length), beginning(openRequest(search)));
}
