export { openNetworks, webhookAddressCheck, webhookOutbound } from './addresses.ts';
export { chats } from './chat.ts';
export { recordDeliveries } from './record.ts';
export type { DeliveryAttempt, WebhookFormat } from './webhooks.schemas.ts';
