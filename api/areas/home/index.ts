import { defineArea } from '#kernel/endpoint.ts';
import { getHome, getHomeLayout, getHomeRow, hideFromHome, setHomeLayout } from './home.endpoints.ts';

export const homeArea = defineArea('home', 'Home', [getHome, getHomeRow, hideFromHome, getHomeLayout, setHomeLayout]);
