import { defineArea } from '#kernel/endpoint.ts';
import { streamEvents } from './events.endpoints.ts';

export const eventsArea = defineArea('events', 'Events', [streamEvents]);
