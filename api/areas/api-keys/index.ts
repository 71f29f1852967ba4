import { defineArea } from '#kernel/endpoint.ts';
import { createApiKey, listApiKeys, revokeApiKey, updateApiKey } from './api-keys.endpoints.ts';

export const apiKeysArea = defineArea('api-keys', 'API keys', [listApiKeys, createApiKey, updateApiKey, revokeApiKey]);
