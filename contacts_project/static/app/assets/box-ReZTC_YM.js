import{y as s}from"./Icon-Bxu0pKpz.js";const a=s(!1),e=s(!1);s("");export{e as a,a as i};
