import { defineArea } from '#kernel/endpoint.ts';
import {
  createCustomField,
  deleteCustomField,
  listCustomFields,
  updateCustomField,
} from './custom-fields.endpoints.ts';

export const customFieldsArea = defineArea('custom-fields', 'Custom fields', [
  listCustomFields,
  createCustomField,
  updateCustomField,
  deleteCustomField,
]);
