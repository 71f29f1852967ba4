import { defineArea } from '#kernel/endpoint.ts';
import {
  confirmEmailAddress,
  getEmailStatus,
  listEmailMessages,
  previewEmail,
  retryEmailMessage,
  sendTestEmail,
  unsubscribeEmail,
} from './email.endpoints.ts';

export const emailArea = defineArea('email', 'Email', [
  getEmailStatus,
  sendTestEmail,
  listEmailMessages,
  retryEmailMessage,
  previewEmail,
  confirmEmailAddress,
  unsubscribeEmail,
]);
