import type { Call } from '#kernel/endpoint.ts';

/** Receivers are pages of other origins. With a ticket, any origin may read. */
export function openToReceivers(call: Call, ticket: string | undefined): void {
  if (ticket === undefined) return;
  call.reply.header('Access-Control-Allow-Origin', '*');
  call.reply.header('Cross-Origin-Resource-Policy', 'cross-origin');
}
