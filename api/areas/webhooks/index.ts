import { defineArea } from '#kernel/endpoint.ts';
import { listDeliveries, testWebhook } from './deliveries.endpoints.ts';
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook } from './webhooks.endpoints.ts';

export const webhooksArea = defineArea('webhooks', 'Webhooks', [
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  testWebhook,
  listDeliveries,
]);
