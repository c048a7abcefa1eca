import{y as s}from"./Icon-2tjMv2z2.js";const a=s(!1),e=s(!1);s("");export{e as a,a as i};
