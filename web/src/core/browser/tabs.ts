// Messages between the tabs of this browser.

export interface TabChannel<Message> {
  post: (message: Message) => void;
  /** Calls `handle` with each message of another tab; the result ends it. */
  listen: (handle: (message: Message) => void) => () => void;
}

export function tabChannel<Message>(name: string): { channel: TabChannel<Message>; close: () => void } {
  const channel = new BroadcastChannel(name);
  return {
    channel: {
      post: (message) => channel.postMessage(message),
      listen(handle) {
        const take = (event: Event): void => handle((event as Event & { data: Message }).data);
        channel.addEventListener('message', take);
        return () => channel.removeEventListener('message', take);
      },
    },
    close: () => channel.close(),
  };
}

export type TabMessage = { what: 'signed-in' } | { what: 'signed-out' } | { what: 'profile' };

const { channel } = tabChannel<TabMessage>('foyer');
export const { post: sayToTabs, listen: onTabMessage } = channel;
