import type { Call } from '#kernel/endpoint.ts';

/** Receivers are pages of other origins: with a ticket, and only then, any of them may read. */
export function openToReceivers(call: Call, ticket: string | undefined): void {
  if (ticket === undefined) return;
  call.reply.header('Access-Control-Allow-Origin', '*');
  call.reply.header('Cross-Origin-Resource-Policy', 'cross-origin');
}
