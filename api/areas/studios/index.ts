import { defineArea } from '#kernel/endpoint.ts';
import { getStudio, listStudios } from './studios.endpoints.ts';

export const studiosArea = defineArea('studios', 'Studios', [listStudios, getStudio]);
