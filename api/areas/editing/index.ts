import { defineArea } from '#kernel/endpoint.ts';
import { listItemMarkers, setItemMarkers } from './markers.endpoints.ts';

export const editingArea = defineArea('editing', 'Editing', [listItemMarkers, setItemMarkers]);
