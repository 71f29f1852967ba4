import { defineArea } from '#kernel/endpoint.ts';
import {
  getDocs,
  getOpenApi,
  getServerHealth,
  getServerInfo,
  getServerLiveness,
  getServerReadiness,
} from './server.endpoints.ts';

export const serverArea = defineArea('server', 'Server', [
  getServerInfo,
  getServerHealth,
  getServerLiveness,
  getServerReadiness,
  getOpenApi,
  getDocs,
]);
