// Messages between the tabs of this browser.

export type TabMessage = { what: 'signed-in' } | { what: 'signed-out' } | { what: 'profile' };

const channel = new BroadcastChannel('foyer');

export const sayToTabs = (message: TabMessage): void => channel.postMessage(message);

export function onTabMessage(handle: (message: TabMessage) => void): () => void {
  const listen = ({ data }: MessageEvent<TabMessage>): void => handle(data);
  channel.addEventListener('message', listen);
  return () => channel.removeEventListener('message', listen);
}
