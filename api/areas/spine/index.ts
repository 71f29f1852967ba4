import { defineArea } from '#kernel/endpoint.ts';
import { getSpine, importSpinePack, lookupSpine } from './spine.endpoints.ts';

export const spineArea = defineArea('spine', 'Spine', [getSpine, importSpinePack, lookupSpine]);
